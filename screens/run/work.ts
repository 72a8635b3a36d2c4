import type { BuildRequest } from '../../src/operations/build.ts';
import type { LoadRequest, PlannedLoad } from '../../src/operations/load/planned-load.ts';
import type { PlannedUndo } from '../../src/operations/load/undo.ts';
import type { PlannedRemove } from '../../src/operations/snapshots/remove.ts';
import { hiddenText } from '../../src/results/hidden-objects.ts';
import type { LoadPlan, LoadResult, SnapshotRow } from '../../src/results/results.ts';
import { othersOf, reasonsOf, shortened, type TableSelection } from '../../src/results/selected-tables.ts';
import type { RunSummary, Work } from '../../src/state/runs.ts';
import { formatBytes, formatDuration, formatNumberOf } from '../../src/text/format.ts';
import type { Model } from '../app/model.ts';
import { refreshAfterWork } from '../app/refresh.ts';
import { replacedDatabase } from './rivals.ts';

export function buildWork(model: Model, request: BuildRequest): Work {
  const { target } = request;
  return {
    title: `Build a snapshot of ${target}`,
    target,
    kind: 'build',
    replaces: null,
    perform: async (session) => {
      const snapshot = await model.operations.build(session, request);
      await refreshAfterWork(model, target);
      const { tables, rows, stored_bytes } = snapshot;
      return (duration) =>
        receipt(
          `Built snapshot ${snapshot.index} of ${target} (${contents({ tables, rows })}, ` +
            `${formatBytes(stored_bytes)} added, ${formatDuration(duration)})`,
        );
    },
  };
}

export function loadWork(model: Model, planned: PlannedLoad): Work {
  const { plan, request } = planned;
  const { selection } = plan;
  const some = selection ? `${formatNumberOf(selection.chosen.length, 'table')} of ` : '';
  const what = plan.snapshot ? `${some}snapshot ${plan.snapshot.index} of ${plan.target}` : (plan.file ?? plan.target);
  const work: Work = {
    title: `Load ${what} into ${plan.destination.database}`,
    target: plan.target,
    kind: 'load',
    replaces: replacedDatabase(plan.destination),
    perform: async (session) => {
      const result = await model.operations.applyLoad(session, planned);
      await refreshAfterWork(model, request.target);
      const held = contents(result);
      return (duration) => ({
        ...receipt(`Loaded ${what} into ${result.destination} (${held}, ${formatDuration(duration)})`),
        details: loadDetails(plan, result),
        problems: result.missing ? ['Missing:', ...result.missing.differences, ...result.missing.errors] : [],
        undoable: result.undo_database !== null,
      });
    },
  };
  loadRequests.set(work, request);
  return work;
}

const loadRequests = new WeakMap<Work, LoadRequest>();

/** What a load was asked for, so that it can be asked for in another way. */
export function loadRequestOf(work: Work): LoadRequest | null {
  return loadRequests.get(work) ?? null;
}

const CHECKED = 'Checked against the manifest: rows, indexes, constraints, triggers, sequences.';

function loadDetails({ strategy, destination: { database, exists } }: LoadPlan, result: LoadResult): string[] {
  const { selection, swap_ms, undo_database } = result;
  return [
    ...(selection ? selectionLines(selection) : []),
    ...(strategy === 'swap' && !result.missing ? [CHECKED] : []),
    ...hiddenLines(result.snapshot),
    ...(swap_ms === null || !exists ? [] : [`${database} was away for ${formatDuration(swap_ms)}.`]),
    ...(undo_database === null ? [] : [`What ${database} held before is kept: u puts it back.`]),
  ];
}

function hiddenLines(snapshot: SnapshotRow | null): string[] {
  return snapshot?.hidden ? [`Not in the snapshot, hidden from its user: ${hiddenText(snapshot.hidden)}`] : [];
}

function selectionLines(selection: TableSelection): string[] {
  const { chosen, needed } = selection;
  return [
    `Asked for: ${shortened(chosen).join(', ')}`,
    ...(needed.length > 0 ? [`Came along: ${shortened(reasonsOf(needed)).join(', ')}`] : []),
    `Left empty: ${othersOf(selection)}`,
  ];
}

export function undoWork(model: Model, planned: PlannedUndo): Work {
  const { target, destination } = planned.plan;
  return {
    title: `Undo the last load into ${destination.database}`,
    target,
    kind: 'undo',
    replaces: replacedDatabase(destination),
    perform: async (session) => {
      const result = await model.operations.applyUndo(session, planned);
      await refreshAfterWork(model, target);
      return (duration) => ({
        ...receipt(`Put ${result.destination} back as it was before the load (${formatDuration(duration)})`),
        undoable: result.undo_database !== null,
      });
    },
  };
}

export function verifyWork(model: Model, target: string, snapshot: SnapshotRow): Work {
  return {
    title: `Verify snapshot ${snapshot.index} of ${target}`,
    target,
    kind: 'verify',
    replaces: null,
    perform: async (session) => {
      const result = await model.operations.verify(session, { target, snapshot: snapshot.id });
      const read = `${formatNumberOf(result.files, 'file')}, ${formatBytes(result.bytes)}`;
      return (duration) =>
        result.ok
          ? {
              ...receipt(`Snapshot ${snapshot.index} of ${target} is whole (${read}, ${formatDuration(duration)})`),
              details: hiddenLines(result.snapshot),
            }
          : {
              ...receipt(`Snapshot ${snapshot.index} of ${target} is damaged (${read})`),
              problems: result.problems,
            };
    },
  };
}

export function removeWork(model: Model, planned: PlannedRemove): Work {
  const { target, snapshot, frees_bytes } = planned.plan;
  return {
    title: `Remove snapshot ${snapshot.index} of ${target}`,
    target,
    kind: 'remove',
    replaces: null,
    perform: async (session) => {
      await model.operations.applyRemove(session, planned);
      await refreshAfterWork(model, target);
      return () =>
        receipt(`Removed the snapshot of ${target} from ${snapshot.created_at} (frees ${formatBytes(frees_bytes)})`);
    },
  };
}

function receipt(line: string): RunSummary {
  return { line, problems: [], undoable: false };
}

function contents({ tables, rows }: { tables: number; rows: number }): string {
  return `${formatNumberOf(tables, 'table')}, ${formatNumberOf(rows, 'row')}`;
}
