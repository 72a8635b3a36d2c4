import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Viewport } from '../../components/list.tsx';
import type { SnapshotRow, SnapshotTable } from '../../src/results.ts';
import { matchesFilter, selectedIndex } from '../../src/state/list.ts';
import { createMessages, type Message, type Messages, type MessagesState } from '../../src/state/messages.ts';
import { createNavigation, type Navigation } from '../../src/state/navigation.ts';
import { createRuns, type Run, type Runs, type Session } from '../../src/state/runs.ts';
import { createSnapshotsStore, type SnapshotsStore, snapshotsOf } from '../../src/state/snapshots.ts';
import {
  createTargetsStore,
  type KnownTarget,
  type TargetEntry,
  type TargetsState,
  type TargetsStore,
} from '../../src/state/targets.ts';
import { keepMessages, tellOutcome } from '../messages/keep.ts';
import { createViews, type InView, positionIn, type Views } from './in-view.ts';
import type { Operations } from './operations.ts';
import {
  type MessagesRoute,
  openingStack,
  type Route,
  type SnapshotsRoute,
  type TablesRoute,
  type TargetsRoute,
  type TasksRoute,
} from './route.ts';

/** All that the screens are made from: the stores, the operations, and the few things only the terminal can do. */
export interface Model {
  navigation: Navigation<Route>;
  targets: TargetsStore;
  snapshots: SnapshotsStore;
  runs: Runs;
  messages: Messages;
  operations: Operations;
  terminal: TerminalControl;
  clock: () => Date;
  /** Where relative names of files begin. */
  cwd: string;
  /** The file given with `--config`. */
  config: string | undefined;
  /** The configuration file in effect as people read it; `null` until it is known, or when there is none. */
  file: StoreApi<string | null>;
  /** Switches everything off that writes. */
  readOnly: boolean;
  /** Keeps what was found of the targets for the first frame of the next session. */
  remember: (targets: KnownTarget[]) => void;
  views: Views;
  /** What the list of the present place shows, as it was drawn last. */
  viewport: Viewport;
  mouse: { on: boolean };
  /** When Ctrl-C was pressed last: a second one soon after leaves. */
  interrupts: { last: number | null };
}

export interface TerminalControl {
  quit(): void;
  /** Opens a file in the user's editor, at a line where it knows how, and comes back when it is closed. */
  edit(file: string, line?: number): Promise<void>;
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
  const navigation = createNavigation(openingStack(target));
  const messages = createMessages({ clock });
  keepMessages(navigation, messages);
  return {
    navigation,
    messages,
    targets: createTargetsStore(known),
    snapshots: createSnapshotsStore(),
    runs: createRuns({ clock, onEnd: (run) => tellOutcome(run, { navigation, messages }) }),
    operations,
    terminal,
    clock,
    cwd,
    config,
    file: createStore(() => null),
    readOnly,
    remember,
    views: createViews(),
    viewport: { keys: [], furthest: Number.POSITIVE_INFINITY },
    mouse: { on: false },
    interrupts: { last: null },
  };
}

/** A session for work that nobody watches, such as listing. */
export function quietly(signal: AbortSignal): Session {
  return { report: () => {}, signal };
}

/** The targets that the filter lets through, in the order that was asked for. */
export function targetsInView({ targets, views }: Model, { list, typing, sort }: TargetsRoute): InView<TargetEntry> {
  return views.targets(targets.getState().entries, sort, typing?.text ?? list.filter);
}

/** The snapshots that the filter lets through. */
export function snapshotsInView(
  { snapshots, views }: Model,
  { target, list, typing }: SnapshotsRoute,
): InView<SnapshotRow> {
  return views.snapshots(snapshotsOf(snapshots.getState(), target).rows, typing?.text ?? list.filter);
}

/** The tables that the filter lets through. */
export function tablesInView({ found, list, typing }: TablesRoute): SnapshotTable[] {
  const filter = typing?.text ?? list.filter;
  return (found ?? []).filter(({ table }) => filter === '' || matchesFilter(filter, [table]));
}

export function selectedTarget(model: Model, route: TargetsRoute): TargetEntry | null {
  const view = targetsInView(model, route);
  return view.items[positionIn(view, route.list.selected)] ?? null;
}

export function selectedSnapshot(model: Model, route: SnapshotsRoute): SnapshotRow | null {
  const view = snapshotsInView(model, route);
  return view.items[positionIn(view, route.list.selected)] ?? null;
}

/** Work of the session as it is listed: newest first. */
export function selectedTask(runs: Run[], { list }: TasksRoute): Run | null {
  const newestFirst = runs.toReversed();
  const ids = newestFirst.map(({ id }) => id);
  return newestFirst[selectedIndex(ids, list.selected)] ?? null;
}

export function selectedMessage({ all }: MessagesState, { list }: MessagesRoute): Message | null {
  const ids = all.map(({ id }) => id);
  return all[selectedIndex(ids, list.selected)] ?? null;
}

export function targetNamed({ entries }: TargetsState, name: string): TargetEntry | null {
  return entries.find(({ row }) => row.name === name) ?? null;
}

export function runWithId(runs: Run[], id: string): Run | null {
  return runs.find((run) => run.id === id) ?? null;
}
