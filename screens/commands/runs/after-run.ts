import { briefName } from '../../../src/presentation/snapshot.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import type { Run, RunKind } from '../../../src/state/runs.ts';
import { snapshotsOf } from '../../../src/state/snapshots.ts';
import { contextOf, type KeyBinding, type Model } from '../../app/model.ts';
import { latestNotLoadable } from '../../app/why-not.ts';
import { showBranches } from '../branches.ts';
import { CHANGES } from '../changes.ts';
import { confirmLoad } from '../load.ts';
import { showTables } from '../open-tables.ts';
import { openTarget } from '../open-target.ts';
import { showPoints } from '../points.ts';

/** The screen that Enter opens when a run has ended: its result. */
const OPENS: Record<RunKind, 'snapshot' | 'branches' | 'points' | 'target'> = {
  build: 'snapshot',
  sanitize: 'snapshot',
  subset: 'snapshot',
  load: 'snapshot',
  import: 'snapshot',
  push: 'snapshot',
  pull: 'snapshot',
  verify: 'snapshot',
  export: 'snapshot',
  save: 'points',
  undo: 'points',
  reset: 'points',
  branch: 'branches',
  remove: 'target',
  apply: 'target',
};

const LABELS = { snapshot: 'tables', branches: 'branches', points: 'back to…', target: 'snapshots' };

/** The snapshot of a run, where the list has it. */
function snapshotOf({ snapshots }: Model, { target, summary }: Run): SnapshotRow | null {
  const { rows } = snapshotsOf(snapshots.getState(), target);
  return rows.find(({ id }) => id === summary?.snapshot) ?? null;
}

function openMade(model: Model, run: Run): void {
  const { target, kind } = run;
  const opens = OPENS[kind];
  const snapshot = snapshotOf(model, run);
  if (opens === 'snapshot' && snapshot) showTables(model, { target, snapshot });
  else if (opens === 'branches') showBranches(model, target);
  else if (opens === 'points') showPoints(model, { target });
  else openTarget(model, target);
}

/** `Enter tables`: on the screen of a run that has ended, and in the lists of runs. */
export const OPEN_MADE: KeyBinding = {
  keys: ['enter'],
  label: 'open result',
  help: 'open what the run made: the tables of its snapshot, the branches, the points to return to',
  // Of a sanitization it opens the coverage.
  when: ({ run }) => isDone(run) && run.summary?.sanitized === undefined,
  run: (model) => {
    const { run } = contextOf(model);
    if (run) openMade(model, run);
  },
  palette: false,
};

/** The snapshot that was just made. */
export const LOAD_MADE: KeyBinding = {
  id: 'load',
  label: 'load',
  help: 'restore the snapshot of the run into the destination; shows the plan and asks first',
  palette: 'Load snapshot of the run…',
  when: ({ model, run }) => isDone(run) && MAKES.has(run.kind) && snapshotOf(model, run) !== null,
  whyNot: latestNotLoadable,
  run: (model) => {
    const { run } = contextOf(model);
    const snapshot = run && snapshotOf(model, run);
    if (!snapshot) return;
    confirmLoad(model, { target: run.target, snapshot: snapshot.id }, `snapshot ${briefName(snapshot)}`);
  },
};

const MAKES = new Set<RunKind>(['build', 'sanitize', 'import', 'pull']);

/** After a load: the destination may change from then on. */
export const CHANGES_SINCE: KeyBinding = {
  ...CHANGES,
  when: ({ run }) => isDone(run) && run.swaps !== undefined && LOADS.has(run.kind),
};

const LOADS = new Set<RunKind>(['load', 'undo', 'reset']);

function isDone(run: Run | null): run is Run {
  return run?.state.status === 'done';
}

interface KeyAndLabel {
  /** `null`: Enter. */
  id: 'client' | 'undo' | 'copy' | 'changes' | 'load' | null;
  label: string;
}

/** Returns the keys that act on the result of a run, with their labels. */
export function keysWhenDone({ kind, swaps, summary, state }: Run): KeyAndLabel[] {
  const isSanitized = kind === 'sanitize' || summary?.sanitized !== undefined;
  const isRehearsal = summary?.rehearsal !== undefined || state.expected.some(({ step }) => step === 'observe');
  const open: KeyAndLabel = {
    id: null,
    label: isSanitized ? 'coverage' : isRehearsal ? 'report' : LABELS[OPENS[kind]],
  };
  if (MAKES.has(kind)) return [{ id: 'load', label: 'load' }, open];
  if (!swaps || !LOADS.has(kind)) return [open];
  const isUndoable = state.status === 'done' ? (summary?.undo ?? null) !== null : swaps.exists;
  return [
    { id: 'client', label: 'open client' },
    ...(isUndoable ? [{ id: 'undo', label: 'undo' } as const] : []),
    { id: 'copy', label: 'copy URL' },
    { id: 'changes', label: 'what changed' },
    open,
  ];
}
