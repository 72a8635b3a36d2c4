import type { BuildRequest } from '../../src/operations/build.ts';
import type { LoadRequest, PlannedLoad } from '../../src/operations/load/planned-load.ts';
import type { PlannedUndo } from '../../src/operations/load/undo.ts';
import type { PlannedSanitize } from '../../src/operations/sanitize/sanitize.ts';
import type { PlannedRemove } from '../../src/operations/snapshots/remove.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import { loadSummary, loadTitle, undoSummary, undoTitle } from '../../src/presentation/load.ts';
import { removeSummary, removeTitle } from '../../src/presentation/remove.ts';
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
import type { SnapshotRow } from '../../src/results/results.ts';
import type { RunContext, Work } from '../../src/state/runs.ts';
import type { Model } from '../app/model.ts';
import { refreshAfterWork } from '../app/refresh.ts';
import { replacedDatabase } from './rivals.ts';

interface OfSnapshot {
  target: string;
  snapshot: SnapshotRow;
}

/** The lists are refreshed when the work has changed something. */
async function thenRefresh<Result>(model: Model, target: string, result: Promise<Result>): Promise<Result> {
  const done = await result;
  await refreshAfterWork(model, target);
  return done;
}

export function buildWork(model: Model, request: BuildRequest): Work {
  const { target } = request;
  return {
    ...{ title: buildTitle(target), target, kind: 'build', replaces: null },
    perform: async (session) =>
      builtSummary(target, await thenRefresh(model, target, model.operations.build(session, request))),
  };
}

export function loadWork(model: Model, planned: PlannedLoad): Work {
  const { plan, request } = planned;
  const { target, destination } = plan;
  const work: Work = {
    ...{ title: loadTitle(plan), target, kind: 'load', replaces: replacedDatabase(destination) },
    perform: async (session) =>
      loadSummary(plan, await thenRefresh(model, target, model.operations.applyLoad(session, planned))),
  };
  loadRequests.set(work, request);
  return work;
}

const loadRequests = new WeakMap<Work, LoadRequest>();

/** What a load was asked for, so that it can be asked for in another way. */
export function loadRequestOf(work: Work): LoadRequest | null {
  return loadRequests.get(work) ?? null;
}

export function undoWork(model: Model, planned: PlannedUndo): Work {
  const { plan } = planned;
  const { target, destination } = plan;
  return {
    ...{ title: undoTitle(plan), target, kind: 'undo', replaces: replacedDatabase(destination) },
    perform: async (session) =>
      undoSummary(plan, await thenRefresh(model, target, model.operations.applyUndo(session, planned))),
  };
}

export function sanitizeWork(model: Model, planned: PlannedSanitize): Work {
  const { plan } = planned;
  const { target, snapshot, query, destination } = plan;
  return {
    ...{ title: sanitizeTitle(plan), target, kind: snapshot ? 'sanitize' : 'build' },
    replaces: destination && replacedDatabase(destination),
    perform: async (session) => {
      const result = await thenRefresh(model, target, model.operations.applySanitize(session, planned));
      const { original, coverage } = result;
      return { ...sanitizeSummary(result, target), sanitized: { original, coverage, queryFile: query.file } };
    },
  };
}

export function subsetWork(model: Model, planned: PlannedSubset): Work {
  const { plan } = planned;
  const { target, destination } = plan;
  return {
    ...{ title: subsetTitle(plan), target, kind: 'subset', replaces: replacedDatabase(destination) },
    perform: async (session) =>
      subsetSummary(plan, await thenRefresh(model, target, model.operations.applySubset(session, planned))),
  };
}

export function removeWork(model: Model, planned: PlannedRemove): Work {
  const { plan } = planned;
  const { target } = plan;
  return {
    ...{ title: removeTitle(plan), target, kind: 'remove', replaces: null },
    perform: async (session) => {
      await thenRefresh(model, target, model.operations.applyRemove(session, planned));
      return removeSummary(plan);
    },
  };
}

export function verifyWork(model: Model, { target, snapshot }: OfSnapshot): Work {
  return ofSnapshot('verify', { target, snapshot }, async (session) =>
    verifySummary(await model.operations.verify(session, { target, snapshot: snapshot.id })),
  );
}

export function transferWork(model: Model, kind: TransferKind, { target, snapshot }: OfSnapshot): Work {
  return ofSnapshot(kind, { target, snapshot }, async (session) => {
    const moved = model.operations[kind](session, { target, snapshot: snapshot.id });
    return transferSummary(kind, await thenRefresh(model, target, moved));
  });
}

/** `file` is absolute. */
export function exportWork(model: Model, { target, snapshot }: OfSnapshot, file: string): Work {
  return ofSnapshot('export', { target, snapshot }, async (session) =>
    exportSummary(await model.operations.export(session, { target, snapshot: snapshot.id, file })),
  );
}

function ofSnapshot(
  kind: TransferKind | 'verify' | 'export',
  { target, snapshot }: OfSnapshot,
  perform: (session: RunContext) => ReturnType<Work['perform']>,
): Work {
  return { title: snapshotTitle(kind, target, snapshot), target, kind, replaces: null, perform };
}
