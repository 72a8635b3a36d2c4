import { contentOf, restoreSteps, transferSteps } from '../../../src/operations/expected-steps.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import type { Planned } from '../../../src/operations/planned.ts';
import {
  exportSummary,
  type TransferKind,
  transferSummary,
  verifySummary,
} from '../../../src/operations/snapshots/transfer/transfer-text.ts';
import type { RunContext, RunDefinition } from '../../../src/state/runs.ts';
import { refreshAfterRun } from '../../app/lists/refresh.ts';
import type { Model } from '../../app/model.ts';
import type { SelectedSnapshot } from '../../app/on-selected.ts';
import type { ShownPlan } from '../../app/operations.ts';
import { replacedDatabase } from './conflicting-runs.ts';

/** The run that applies a plan, and then refreshes the lists. */
export function operationRun<Request, P extends Planned<Request, unknown>, Result>(
  model: Model,
  operation: Operation<Request, P, Result>,
  { target, shown, sealed, steps = operation.steps?.(shown) }: ShownPlan<P> & { target: string },
): RunDefinition {
  const replacement = operation.replaces?.(shown) ?? null;
  const sanitized = operation.sanitized?.(shown) ?? null;
  return {
    title: operation.title?.(shown) ?? uncapitalized(operation.question(shown, model.clock()).title),
    target,
    kind: operation.kind,
    replaces: replacement && replacedDatabase(replacement.database),
    ...(replacement?.bySwap && { swaps: replacement.database }),
    ...(sanitized !== null && { sanitized }),
    ...(steps && { steps }),
    perform: async (session) => {
      const result = await model.operations.apply(session, operation, sealed);
      await showWorked(model, { session, target });
      return operation.summary(result, shown);
    },
  };
}

/** Names of runs begin with a verb: they are among others in a list. */
function uncapitalized(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

export function verifyRun(model: Model, { target, snapshot }: SelectedSnapshot): RunDefinition {
  return ofSnapshot('verify', { target, snapshot }, async (session) =>
    verifySummary(await model.operations.verify(session, { target, snapshot: snapshot.id })),
  );
}

/** The lists then show when it was last restored. */
export function proveRun(model: Model, { target, snapshot }: SelectedSnapshot): RunDefinition {
  const run = ofSnapshot('verify', { target, snapshot }, async (session) => {
    const result = await model.operations.verifyRestore(session, { target, snapshot: snapshot.id });
    await showWorked(model, { session, target });
    return verifySummary(result);
  });
  return { ...run, steps: restoreSteps(contentOf(snapshot)) };
}

export function transferRun(model: Model, kind: TransferKind, { target, snapshot }: SelectedSnapshot): RunDefinition {
  return ofSnapshot(kind, { target, snapshot }, async (session) => {
    const moved = await model.operations[kind](session, { target, snapshot: snapshot.id });
    await showWorked(model, { session, target });
    return transferSummary(kind, moved);
  });
}

async function showWorked(model: Model, { session, target }: { session: RunContext; target: string }): Promise<void> {
  session.worked?.();
  await refreshAfterRun(model, target);
}

/** `file` is absolute. */
export function exportRun(model: Model, { target, snapshot }: SelectedSnapshot, file: string): RunDefinition {
  return ofSnapshot('export', { target, snapshot }, async (session) =>
    exportSummary(await model.operations.export(session, { target, snapshot: snapshot.id, file })),
  );
}

function ofSnapshot(
  kind: TransferKind | 'verify' | 'export',
  { target, snapshot }: SelectedSnapshot,
  perform: (session: RunContext) => ReturnType<RunDefinition['perform']>,
): RunDefinition {
  const { sanitized } = snapshot;
  const title = `${kind} ${snapshot.id}`;
  return { title, target, kind, replaces: null, sanitized, steps: transferSteps(kind, snapshot), perform };
}
