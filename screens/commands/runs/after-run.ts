import type { SnapshotRow } from '../../../src/results/results.ts';
import type { ExpectedStep } from '../../../src/state/overall-progress.ts';
import type { Run, RunKind } from '../../../src/state/runs.ts';
import { snapshotsOf } from '../../../src/state/snapshots.ts';
import type { KeyBinding, Model } from '../../app/model.ts';
import { onRun } from '../../app/on-selected.ts';
import { latestNotLoadable } from '../../app/why-not.ts';
import { showBranches } from '../branches.ts';
import { CHANGES } from '../changes.ts';
import { confirmLoadOf } from '../load.ts';
import { openTarget, showTables } from '../open-target.ts';
import { showPoints } from '../points.ts';
import { showServers } from '../servers.ts';

/** The screen that Enter opens when a run has ended: its result. */
const OPENS: Record<RunKind, keyof typeof WORDS> = {
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
  server: 'servers',
  remove: 'target',
  apply: 'target',
};

const WORDS = {
  snapshot: { label: 'tables', help: 'open the tables of the snapshot that the run made or loaded' },
  branches: { label: 'branches', help: 'open the branches of the target' },
  servers: { label: 'servers', help: 'open the servers of the target' },
  points: { label: 'points', help: 'open the points to return to' },
  target: { label: 'snapshots', help: 'open the snapshots of the target' },
};

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
  else if (opens === 'servers') showServers(model, target);
  else if (opens === 'points') showPoints(model, { target });
  else openTarget(model, target);
}

/** `Enter tables`, `Enter branches`: on the screen of a run that has ended, in the words of its card. */
export const OPEN_MADE: KeyBinding[] = Object.entries(WORDS).map(([opens, words]) => ({
  keys: ['enter'],
  ...words,
  // Of a sanitization it opens the coverage.
  when: ({ run }) => isDone(run) && run.summary?.sanitized === undefined && OPENS[run.kind] === opens,
  run: onRun(openMade),
}));

/** The snapshot that was just made. */
export const LOAD_MADE: KeyBinding = {
  id: 'load',
  label: 'load',
  help: 'restore the snapshot of the run into the destination; shows the plan and asks first',
  palette: 'Load snapshot of the run…',
  when: ({ model, run }) => isDone(run) && MAKES.has(run.kind) && snapshotOf(model, run) !== null,
  whyNot: latestNotLoadable,
  run: onRun((model, run) => {
    const snapshot = snapshotOf(model, run);
    if (snapshot) confirmLoadOf(model, { target: run.target, snapshot });
  }),
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

/** A branch or a server. */
function createsDatabase({ step }: ExpectedStep): boolean {
  return step.startsWith('branch ') || step === 'start';
}

/** The database that the run made or replaced, without password; `null` for none. */
export function databaseUrl(run: Run | null): string | null {
  return run?.summary?.url ?? run?.swaps?.url ?? null;
}

interface KeyAndLabel {
  /** `null`: Enter. */
  id: 'client' | 'undo' | 'copy' | 'changes' | 'load' | null;
  label: string;
}

/** Returns the keys that act on the result of a run, with their labels. */
export function keysWhenDone(run: Run): KeyAndLabel[] {
  const { kind, swaps, summary, state } = run;
  const isSanitized = kind === 'sanitize' || summary?.sanitized !== undefined;
  const isRehearsal = summary?.rehearsal !== undefined || state.expected.some(({ step }) => step === 'observe');
  const open: KeyAndLabel = {
    id: null,
    label: isSanitized ? 'coverage' : isRehearsal ? 'report' : WORDS[OPENS[kind]].label,
  };
  const isDone = state.status === 'done';
  const isMade = isDone ? databaseUrl(run) !== null : swaps !== undefined || state.expected.some(createsDatabase);
  const isLoad = swaps !== undefined && LOADS.has(kind);
  const isUndoable = isDone ? (summary?.undo ?? null) !== null : isLoad && swaps.exists;
  return [
    ...(MAKES.has(kind) ? [{ id: 'load', label: 'load' } as const] : []),
    ...(isMade ? [{ id: 'client', label: 'open client' } as const] : []),
    ...(isUndoable ? [{ id: 'undo', label: 'undo load' } as const] : []),
    ...(isMade ? [{ id: 'copy', label: 'copy URL' } as const] : []),
    ...(isLoad ? [{ id: 'changes', label: 'changes' } as const] : []),
    open,
  ];
}
