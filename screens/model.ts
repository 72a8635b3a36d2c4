import type { Viewport } from '../components/list.tsx';
import type { SnapshotRow, SnapshotTable } from '../src/results.ts';
import { matchesFilter, selectedIndex } from '../src/state/list.ts';
import { createNavigation, type Navigation } from '../src/state/navigation.ts';
import { createRuns, type Run, type Runs, type Session } from '../src/state/runs.ts';
import { createSnapshotsStore, type SnapshotsState, type SnapshotsStore, snapshotsOf } from '../src/state/snapshots.ts';
import {
  createTargetsStore,
  type KnownTarget,
  type TargetEntry,
  type TargetsState,
  type TargetsStore,
} from '../src/state/targets.ts';
import type { Operations } from './operations.ts';
import { openingStack, type Place, type SnapshotsPlace, type TablesPlace, type TargetsPlace } from './place.ts';
import { sortTargets } from './targets/sort.ts';

/** All that the screens are made from: the stores, the operations, and the few things only the terminal can do. */
export interface Model {
  navigation: Navigation<Place>;
  targets: TargetsStore;
  snapshots: SnapshotsStore;
  runs: Runs;
  operations: Operations;
  terminal: TerminalControl;
  clock: () => Date;
  /** Where relative names of files begin. */
  cwd: string;
  /** The file given with `--config`. */
  config: string | undefined;
  /** Switches everything off that writes. */
  readOnly: boolean;
  /** Keeps what was found of the targets for the first frame of the next session. */
  remember: (targets: KnownTarget[]) => void;
  /** What the list of the present place shows, as it was drawn last. */
  viewport: Viewport;
  mouse: { on: boolean };
  /** When Ctrl-C was pressed last: a second one soon after leaves. */
  interrupts: { last: number | null };
}

export interface TerminalControl {
  quit(): void;
  /** Opens a file in the user's editor, and comes back when it is closed. */
  edit(file: string): Promise<void>;
  /** Whether the terminal tells of the mouse. */
  mouse(on: boolean): void;
  /** Puts the text on the clipboard, where the terminal has one. */
  copy(text: string): void;
  /** Rows of the window. */
  rows(): number;
}

export interface ModelOptions {
  /** Opens the snapshots of this target. */
  target?: string | undefined;
  operations: Operations;
  terminal: TerminalControl;
  clock: () => Date;
  cwd?: string;
  config?: string | undefined;
  readOnly?: boolean;
  known?: KnownTarget[];
  remember?: (targets: KnownTarget[]) => void;
}

export function createModel(options: ModelOptions): Model {
  const { target, operations, terminal, clock, cwd = '/', config, readOnly = false } = options;
  const { known = [], remember = () => {} } = options;
  return {
    navigation: createNavigation(openingStack(target)),
    targets: createTargetsStore(known),
    snapshots: createSnapshotsStore(),
    runs: createRuns({ clock }),
    operations,
    terminal,
    clock,
    cwd,
    config,
    readOnly,
    remember,
    viewport: { offset: 0, rows: 0 },
    mouse: { on: false },
    interrupts: { last: null },
  };
}

/** A session for work that nobody watches, such as listing. */
export function quietly(signal: AbortSignal): Session {
  return { report: () => {}, signal };
}

/** The targets that the filter lets through, in the order that was asked for. */
export function targetsInView(state: TargetsState, { list, typing, sort }: TargetsPlace): TargetEntry[] {
  const entries = sortTargets(state.entries, sort);
  const filter = typing?.text ?? list.filter;
  if (filter === '') return entries;
  return entries.filter(({ row }) => matchesFilter(filter, [row.name, row.title, row.status, location(row.src_url)]));
}

/** Server and database of a URL: all the users are called `app`, and a filter for that would find everything. */
function location(url: string | null): string | null {
  return url?.slice(url.indexOf('@') + 1) ?? null;
}

/** The snapshots that the filter lets through. */
export function snapshotsInView(state: SnapshotsState, { target, list, typing }: SnapshotsPlace): SnapshotRow[] {
  const { rows } = snapshotsOf(state, target);
  const filter = typing?.text ?? list.filter;
  if (filter === '') return rows;
  return rows.filter((row) => matchesFilter(filter, [row.note, row.created_at, row.id, String(row.index)]));
}

/** The tables that the filter lets through. */
export function tablesInView({ found, list, typing }: TablesPlace): SnapshotTable[] {
  const filter = typing?.text ?? list.filter;
  return (found ?? []).filter(({ table }) => filter === '' || matchesFilter(filter, [table]));
}

export function selectedTarget(state: TargetsState, place: TargetsPlace): TargetEntry | null {
  const entries = targetsInView(state, place);
  const ids = entries.map(({ row }) => row.name);
  return entries[selectedIndex(ids, place.list.selected)] ?? null;
}

export function selectedSnapshot(state: SnapshotsState, place: SnapshotsPlace): SnapshotRow | null {
  const rows = snapshotsInView(state, place);
  const ids = rows.map(({ id }) => id);
  return rows[selectedIndex(ids, place.list.selected)] ?? null;
}

export function targetNamed({ entries }: TargetsState, name: string): TargetEntry | null {
  return entries.find(({ row }) => row.name === name) ?? null;
}

export function runWithId(runs: Run[], id: string): Run | null {
  return runs.find((run) => run.id === id) ?? null;
}
