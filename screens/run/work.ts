import { formatBytes, formatDuration, formatNumberOf } from '../../src/amounts.ts';
import type { PlannedLoad } from '../../src/operations/load.ts';
import type { RemovePlan, SnapshotRow, UndoPlan } from '../../src/results.ts';
import { othersOf, reasonsOf, shortened, type TableSelection } from '../../src/selected-tables.ts';
import type { Receipt, Work } from '../../src/state/runs.ts';
import type { Model } from '../model.ts';
import { refreshAfterWork } from '../refresh.ts';

export function buildWork(model: Model, target: string): Work {
  return {
    title: `Build a snapshot of ${target}`,
    target,
    kind: 'build',
    perform: async (session) => {
      const snapshot = await model.operations.build(session, { target });
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
  return {
    title: `Load ${what} into ${plan.destination.database}`,
    target: plan.target,
    kind: 'load',
    perform: async (session) => {
      const result = await model.operations.load(session, planned);
      await refreshAfterWork(model, request.target);
      const held = contents(result);
      return (duration) => ({
        ...receipt(`Loaded ${what} into ${result.destination} (${held}, ${formatDuration(duration)})`),
        ...(result.selection && { details: selectionLines(result.selection) }),
        undoable: result.undo_database !== null,
      });
    },
  };
}

/** What a load of some tables has loaded, and why. */
function selectionLines(selection: TableSelection): string[] {
  const { chosen, needed } = selection;
  return [
    `Asked for: ${shortened(chosen).join(', ')}`,
    ...(needed.length > 0 ? [`Came along: ${shortened(reasonsOf(needed)).join(', ')}`] : []),
    `Left empty: ${othersOf(selection)}`,
  ];
}

export function undoWork(model: Model, plan: UndoPlan): Work {
  const { target, destination } = plan;
  return {
    title: `Undo the last load into ${destination.database}`,
    target,
    kind: 'undo',
    perform: async (session) => {
      const result = await model.operations.undo(session, plan);
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
    perform: async (session) => {
      const result = await model.operations.verify(session, { target, snapshot: snapshot.id });
      const read = `${formatNumberOf(result.files, 'file')}, ${formatBytes(result.bytes)}`;
      return (duration) =>
        result.ok
          ? receipt(`Snapshot ${snapshot.index} of ${target} is whole (${read}, ${formatDuration(duration)})`)
          : {
              ...receipt(`Snapshot ${snapshot.index} of ${target} is damaged (${read})`),
              problems: result.problems,
            };
    },
  };
}

export function removeWork(model: Model, plan: RemovePlan): Work {
  const { target, snapshot, frees_bytes } = plan;
  return {
    title: `Remove snapshot ${snapshot.index} of ${target}`,
    target,
    kind: 'remove',
    perform: async (session) => {
      await model.operations.remove(session, plan);
      await refreshAfterWork(model, target);
      return () =>
        receipt(`Removed the snapshot of ${target} from ${snapshot.created_at} (frees ${formatBytes(frees_bytes)})`);
    },
  };
}

function receipt(line: string): Receipt {
  return { line, problems: [], undoable: false };
}

function contents({ tables, rows }: { tables: number; rows: number }): string {
  return `${formatNumberOf(tables, 'table')}, ${formatNumberOf(rows, 'row')}`;
}
