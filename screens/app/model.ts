import type { ReactNode } from 'react';
import type { StoreApi } from 'zustand/vanilla';
import type { KeyHint } from '../../components/key-bar.tsx';
import type { Span } from '../../components/line.tsx';
import type { Viewport } from '../../components/list.tsx';
import type { TextEdit } from '../../components/text-edit.ts';
import type { CommandId, ConfiguredKeys } from '../../src/config/schema/default-keys.ts';
import type { Settings } from '../../src/config/schema/settings.ts';
import type { Fact } from '../../src/presentation/shapes/fact.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { Mode } from '../../src/results/configuration/configuration-results.ts';
import type { HistoryList } from '../../src/results/history-results.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { toUserError, type UserError } from '../../src/runtime/errors.ts';
import type { Move } from '../../src/state/list.ts';
import type { Messages } from '../../src/state/messages.ts';
import type { Navigation } from '../../src/state/navigation.ts';
import type { Run, RunContext, Runs } from '../../src/state/runs.ts';
import type { SnapshotsStore } from '../../src/state/snapshots.ts';
import type { KnownTarget, TargetEntry, TargetsState, TargetsStore } from '../../src/state/targets.ts';
import type { Rows, Views } from './lists/in-view.ts';
import type { Operations } from './operations.ts';
import type { NamedRoute, Route, Routes, ScreenId } from './route.ts';
import type { RunnableProgram } from './runnable-program.ts';

/** A screen: its view, its keys and what differs from the defaults. Methods, so that a screen sees its own routes only. */
export interface ScreenModule<Own extends NamedRoute = Route> {
  /** Heading in docs/screens.md. */
  title: string;
  view(props: { route: Own }): ReactNode;
  /** In the order shown. Of two bindings of one key the first that applies wins. */
  keys: KeyBinding<Own>[];
  /** The listed rows, among which the selection moves. */
  rows?(model: Model, route: Own): Rows;
  /** Lines between the head of the page and the first row. Default 1. */
  linesAboveRows?(route: Own, model: Model): number;
  /** Returns the objects that the keys act on. Default: the run and the target that the route names. */
  selected?(model: Model, route: Own): Partial<SelectionState>;
  /** Default: moves the selection. */
  onMove?(model: Model, route: Own, move: Move): void;
  /** Default: goes back by one level. */
  onBack?(model: Model, route: Own): void;
  /** Default: checks the targets. */
  onRefresh?(model: Model, route: Own): Promise<void>;
  /** Typed text has changed. Default: the route with the text. */
  onText?(model: Model, route: Own, typing: TextEdit): void;
  /** Enter in a text. */
  onAccept?(model: Model, route: Own): void;
  /** Esc in a text. Default: `onBack`. */
  onLeave?(model: Model, route: Own): void;
  /** The key bar while a text is typed, where other keys are its letters. Default: those of `keys`. */
  typingHints?: KeyHint[];
  /** Tab in a text. */
  onComplete?(model: Model, route: Own): void;
  /** The screen lists the runs: the status line need not. */
  listsRuns?: boolean;
  /** Its list, which stands beside others on a wide screen. */
  pane?: PaneModule<Own>;
}

/** A list: alone on its page, or one of the panes of a wide screen (`app/frame/pane-view.tsx`). */
export interface PaneModule<Own extends NamedRoute = Route> {
  view(props: PaneProps<Own>): ReactNode;
  /** The path to it, where it is alone. */
  path(route: Own): string[];
  /** Its name among panes. */
  name(route: Own): string;
  /** At the right of its title; `brief` among panes. */
  aside(model: Model, route: Own, options: { brief: boolean }): Span[];
  /** Facts of the selected row. */
  detail?(model: Model, route: Own, glyphs: Glyphs): { title: Span[]; facts: Fact[] } | null;
  /** The pane that the selected row opens. */
  next?(model: Model, route: Own): Route | null;
  /** Reads the rows. */
  read?(model: Model, route: Own, signal?: AbortSignal): Promise<void>;
  /** Changes when the rows have to be read again; `null` when they are known for good. */
  readFor?(model: Model, route: Own): string | null;
}

export interface PaneProps<Own extends NamedRoute = Route> {
  route: Own;
  width: number;
  height: number;
  /** It has the keys. */
  isActive: boolean;
  /** No pane beside it shows the facts of the selected row. */
  alone: boolean;
}

/** A key as data beside its handler; the key bar, the help, the palette and docs/screens.md derive from these. */
export type KeyBinding<Own extends NamedRoute = Route> = KeyHandler<Own> & (CommandKeys | OwnKeys);

/** The first is the one that is shown. */
export type Keys = readonly [string, ...string[]];

interface CommandKeys {
  /** The command, on whichever screen; every key that is a character has one. `keys:` of the configuration is by id. */
  id: CommandId;
  /** Default: those of the command (`src/config/schema/default-keys.ts`). */
  keys?: Keys;
}

interface OwnKeys {
  id?: undefined;
  keys: Keys;
}

interface KeyHandler<Own extends NamedRoute> {
  /** Name of the keys in the key bar. Default: that of the first one. */
  shown?: string;
  /** In the key bar; without one the key is in the help only. */
  label?: string;
  help: string;
  /** Reports whether the key has a meaning now. Default: always. */
  when?(context: KeyContext<Own>): boolean;
  /** Why the command is disabled; `null` when it is not. */
  whyNot?(context: KeyContext<Own>): string | null;
  run(model: Model, route: Own): void;
  /** Stays in the key bar when others have no room. */
  stays?: boolean;
  /** Name in the palette instead of the label; `false` keeps a command out of it. Without an id the default is `false`. */
  palette?: string | false;
}

/** The state that a key depends on: the route and the selection. */
export interface KeyContext<Own extends NamedRoute = Route> extends SelectionState {
  model: Model;
  route: Own;
}

export interface SelectionState {
  target: TargetEntry | null;
  snapshot: SnapshotRow | null;
  run: Run | null;
}

/** The sources of the screens: the stores, the operations, and what only the terminal can do. */
export interface Model {
  screens: { [Id in ScreenId]: ScreenModule<Routes[Id]> };
  navigation: Navigation<Route>;
  targets: TargetsStore;
  snapshots: SnapshotsStore;
  runs: Runs;
  messages: Messages;
  history: StoreApi<History>;
  operations: Operations;
  terminal: TerminalControl;
  clock: () => Date;
  /** Base of relative file names. */
  cwd: string;
  /** The file given with `--config`. */
  config: string | undefined;
  session: StoreApi<Session>;
  version: string;
  /** Disables everything that writes. */
  readOnly: boolean;
  /** Keeps the state of the targets for the first frame of the next session. */
  remember: (targets: KnownTarget[]) => void;
  views: Views;
  /** The list of the present screen, as it was drawn last. */
  viewport: Viewport;
  /** Targets whose build is being planned. */
  planning: Set<string>;
  mouse: { on: boolean };
  /** Time of the last Ctrl-C: a second one soon after leaves. */
  interrupts: { last: number | null };
}

/** Operations of earlier sessions and of scripts; `null` until they are read. */
export interface History {
  found: HistoryList | null;
  error: UserError | null;
}

/** State from the configuration in effect. */
export interface Session {
  /** Display name of the file; `null` until it is known, or when there is none. */
  file: string | null;
  mode: Mode;
  /** A hub is configured, but no token for it. */
  lacksSignIn: boolean;
  /** The end of long runs is announced; `false` until it is known. */
  notify: boolean;
  /** Keys of commands with another key than their own. */
  keys: ConfiguredKeys;
}

export interface TerminalControl {
  quit(): void;
  /** Opens a file in the user's editor, at a line where supported; resolves when the editor is closed. */
  edit(file: string, line?: number): Promise<void>;
  /** Gives the terminal to a program; resolves with its exit code when it has ended, `null` after a signal. */
  run(program: RunnableProgram): Promise<number | null>;
  /** Turns reports of the mouse on or off. */
  mouse(on: boolean): void;
  /** Colours of this session, whatever the configuration has. */
  useTheme(name: Settings['theme']): void;
  announce(text: string): void;
  /** Puts the text on the clipboard, where the terminal has one. */
  copy(text: string): void;
  /** Size of the window. */
  rows(): number;
  columns(): number;
}

export function screenOf(model: Model, route: Route): ScreenModule {
  return model.screens[route.screen];
}

/** Returns the objects that keys and handlers act on. */
export function contextOf(model: Model, route: Route = model.navigation.top()): KeyContext {
  const selected = screenOf(model, route).selected?.(model, route) ?? {};
  const { runs } = model.runs.store.getState();
  const run = selected.run ?? ('run' in route ? runWithId(runs, route.run) : null);
  const name = run?.target ?? ('target' in route ? route.target : null);
  const named = name === null ? null : targetNamed(model.targets.getState(), name);
  return { model, route, run, target: selected.target ?? named, snapshot: selected.snapshot ?? null };
}

export function isAtRoot({ navigation }: Model): boolean {
  return navigation.store.getState().stack.length === 1;
}

export function isUnconfigured({ targets }: Model): boolean {
  return targets.getState().error?.code === 'no_configuration';
}

const MINUTE_MS = 60_000;

/** Ages are drawn anew once in a minute. */
export function minuteOf({ clock }: Model): number {
  return Math.floor(clock().getTime() / MINUTE_MS) * MINUTE_MS;
}

/** A session for an operation without progress, such as a listing. */
export function quietly(signal: AbortSignal): RunContext {
  return { report: () => {}, signal };
}

/** Shows an error in passing, with what to do next. */
export function notifyFailure({ navigation }: Pick<Model, 'navigation'>, thrown: unknown): void {
  const { message, hint } = toUserError(thrown);
  navigation.notify({ tone: 'bad', text: [message, hint].filter(Boolean).join('. ') });
}

/** Does the work, or shows why it failed; resolves with whether it is done. */
export async function orNotify(model: Pick<Model, 'navigation'>, work: () => void | Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (thrown) {
    notifyFailure(model, thrown);
    return false;
  }
}

export function targetNamed({ entries }: TargetsState, name: string): TargetEntry | null {
  return entries.find(({ row }) => row.name === name) ?? null;
}

export function runWithId(runs: Run[], id: string): Run | null {
  return runs.find((run) => run.id === id) ?? null;
}
