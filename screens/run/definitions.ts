import type { BuildRequest } from '../../src/operations/build.ts';
import type { LoadRequest, PlannedLoad } from '../../src/operations/load/planned-load.ts';
import type { PlannedReset } from '../../src/operations/load/reset.ts';
import type { PlannedUndo } from '../../src/operations/load/undo.ts';
import type { PlannedSanitize } from '../../src/operations/sanitize/sanitize.ts';
import type { PlannedPrune } from '../../src/operations/snapshots/prune.ts';
import type { PlannedRemove } from '../../src/operations/snapshots/remove.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import { loadSummary, loadTitle, undoSummary, undoTitle } from '../../src/presentation/load.ts';
import { pruneQuestion, pruneSummary, removeSummary, removeTitle } from '../../src/presentation/remove.ts';
import { resetSummary, resetTitle } from '../../src/presentation/reset.ts';
import { sanitizeSummary, sanitizeTitle } from '../../src/presentation/sanitize.ts';
import { buildTitle, builtSummary } from '../../src/presentation/snapshot.ts';
import { subsetSummary, subsetTitle } from '../../src/presentation/subset.ts';
import {
  exportSummary,
  snapshotTitle,
  type TransferKind,
  transferSummary,
  verifySummary,
} from '../../src/presentation/transfer.ts';
import type { DestinationState } from '../../src/results/load-results.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import type { ReplacedDatabase, RunContext, RunDefinition } from '../../src/state/runs.ts';
import type { Model } from '../app/model.ts';
import { refreshAfterRun } from '../app/refresh.ts';
import { replacedDatabase } from './rivals.ts';

interface OfSnapshot {
  target: string;
  snapshot: SnapshotRow;
}

/** The lists are refreshed when the definition has changed something. */
async function thenRefresh<Result>(model: Model, target: string, result: Promise<Result>): Promise<Result> {
  const done = await result;
  await refreshAfterRun(model, target);
  return done;
}

export function buildRun(model: Model, request: BuildRequest): RunDefinition {
  const { target } = request;
  return {
    ...{ title: buildTitle(target), target, kind: 'build', replaces: null, sanitized: false },
    perform: async (session) =>
      builtSummary(target, await thenRefresh(model, target, model.operations.build(session, request))),
  };
}

export function loadRun(model: Model, planned: PlannedLoad): RunDefinition {
  const { plan, request } = planned;
  const { target, destination } = plan;
  const definition: RunDefinition = {
    ...{ title: loadTitle(plan), target, kind: 'load', replaces: replacedDatabase(destination) },
    ...(plan.sanitized === null ? {} : { sanitized: plan.sanitized }),
    ...(plan.strategy === 'swap' && { swaps: swapped(destination) }),
    ...(plan.estimate && { estimateMs: plan.estimate.duration_ms }),
    perform: async (session) =>
      loadSummary(plan, await thenRefresh(model, target, model.operations.applyLoad(session, planned))),
  };
  loadRequests.set(definition, request);
  return definition;
}

function swapped({ database, url }: DestinationState): ReplacedDatabase {
  return { database, url };
}

const loadRequests = new WeakMap<RunDefinition, LoadRequest>();

/** What a load was asked for, so that it can be asked for in another way. */
export function loadRequestOf(definition: RunDefinition): LoadRequest | null {
  return loadRequests.get(definition) ?? null;
}

export function undoRun(model: Model, planned: PlannedUndo): RunDefinition {
  const { plan } = planned;
  const { target, destination } = plan;
  return {
    ...{ title: undoTitle(plan), target, kind: 'undo', replaces: replacedDatabase(destination) },
    swaps: swapped(destination),
    perform: async (session) =>
      undoSummary(plan, await thenRefresh(model, target, model.operations.applyUndo(session, planned))),
  };
}

export function resetRun(model: Model, planned: PlannedReset): RunDefinition {
  const { plan } = planned;
  const { target, destination } = plan;
  return {
    ...{ title: resetTitle(plan), target, kind: 'reset', replaces: replacedDatabase(destination) },
    swaps: swapped(destination),
    perform: async (session) =>
      resetSummary(plan, await thenRefresh(model, target, model.operations.applyReset(session, planned))),
  };
}

export function sanitizeRun(model: Model, planned: PlannedSanitize): RunDefinition {
  const { plan } = planned;
  const { target, snapshot, query, destination } = plan;
  return {
    ...{ title: sanitizeTitle(plan), target, kind: snapshot ? 'sanitize' : 'build', sanitized: false },
    replaces: destination && replacedDatabase(destination),
    ...(destination && { swaps: swapped(destination) }),
    perform: async (session) => {
      const result = await thenRefresh(model, target, model.operations.applySanitize(session, planned));
      const { original, coverage } = result;
      return { ...sanitizeSummary(result, target), sanitized: { original, coverage, queryFile: query.file } };
    },
  };
}

export function subsetRun(model: Model, planned: PlannedSubset): RunDefinition {
  const { plan } = planned;
  const { target, destination } = plan;
  return {
    ...{ title: subsetTitle(plan), target, kind: 'subset', replaces: replacedDatabase(destination) },
    swaps: swapped(destination),
    perform: async (session) =>
      subsetSummary(plan, await thenRefresh(model, target, model.operations.applySubset(session, planned))),
  };
}

export function removeRun(model: Model, planned: PlannedRemove): RunDefinition {
  const { plan } = planned;
  const { target } = plan;
  return {
    ...{ title: removeTitle(plan), target, kind: 'remove', replaces: null, sanitized: plan.snapshot.sanitized },
    perform: async (session) => {
      await thenRefresh(model, target, model.operations.applyRemove(session, planned));
      return removeSummary(plan);
    },
  };
}

export function removeAllRun(model: Model, target: string, planned: PlannedPrune): RunDefinition {
  const { plan } = planned;
  return {
    ...{ title: pruneQuestion(plan, model.clock()).title, target, kind: 'remove', replaces: null },
    perform: async (session) => {
      await thenRefresh(model, target, model.operations.applyPrune(session, planned));
      return pruneSummary(plan);
    },
  };
}

export function verifyRun(model: Model, { target, snapshot }: OfSnapshot): RunDefinition {
  return ofSnapshot('verify', { target, snapshot }, async (session) =>
    verifySummary(await model.operations.verify(session, { target, snapshot: snapshot.id })),
  );
}

export function transferRun(model: Model, kind: TransferKind, { target, snapshot }: OfSnapshot): RunDefinition {
  return ofSnapshot(kind, { target, snapshot }, async (session) => {
    const moved = model.operations[kind](session, { target, snapshot: snapshot.id });
    return transferSummary(kind, await thenRefresh(model, target, moved));
  });
}

/** `file` is absolute. */
export function exportRun(model: Model, { target, snapshot }: OfSnapshot, file: string): RunDefinition {
  return ofSnapshot('export', { target, snapshot }, async (session) =>
    exportSummary(await model.operations.export(session, { target, snapshot: snapshot.id, file })),
  );
}

function ofSnapshot(
  kind: TransferKind | 'verify' | 'export',
  { target, snapshot }: OfSnapshot,
  perform: (session: RunContext) => ReturnType<RunDefinition['perform']>,
): RunDefinition {
  const { sanitized } = snapshot;
  return { title: snapshotTitle(kind, target, snapshot), target, kind, replaces: null, sanitized, perform };
}
