import type { ChoiceOption } from '../../components/choice.tsx';
import type { TextEdit } from '../../components/text-edit.ts';
import type { TrustLine, UntrustedConfiguration } from '../../src/config/trust/untrusted-configuration.ts';
import type { UserError } from '../../src/errors.ts';
import type { SignInEvent } from '../../src/events.ts';
import type { Diagnosis, FixPlan } from '../../src/operations/configuration/fix.ts';
import type { PlannedLoad } from '../../src/operations/load/planned-load.ts';
import type { PlannedSanitize } from '../../src/operations/sanitize/sanitize.ts';
import type { SignedIn } from '../../src/operations/sign-in/sign-in-status.ts';
import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import type { DiffResult, RemovePlan, SnapshotRow, SnapshotTable, UndoPlan } from '../../src/results.ts';
import { emptyList, type ListState } from '../../src/state/list.ts';
import type { EditorDiffRoute, EditorProblemsRoute, EditorRoute } from '../editor/editor-routes.ts';
import type { SetupRoute } from '../setup/setup-route.ts';
import type { LookedUp } from './looked-up.ts';

/** What the targets are sorted by. */
export type Sort = 'configured' | 'name' | 'status' | 'size' | 'snapshots' | 'age';

/** A screen and all that it shows which is not in a store: what is selected, typed, asked. */
export type Route =
  | TargetsRoute
  | SnapshotsRoute
  | NoteRoute
  | ConfirmRoute
  | RunRoute
  | CoverageRoute
  | SubsetRoute
  | TasksRoute
  | MessagesRoute
  | PaletteRoute
  | TablesRoute
  | DiffRoute
  | DoctorRoute
  | FixRoute
  | ExportRoute
  | SetupRoute
  | EditorRoute
  | EditorDiffRoute
  | EditorProblemsRoute
  | ChoiceRoute
  | SignInRoute
  | TrustRoute
  | OtherRoute;

export interface TargetsRoute {
  screen: 'targets';
  list: ListState;
  /** The filter while it is being typed. */
  typing: TextEdit | null;
  sort: Sort;
}

export interface SnapshotsRoute {
  screen: 'snapshots';
  target: string;
  list: ListState;
  typing: TextEdit | null;
  /** Ids of the snapshots to compare. */
  marked: string[];
}

export interface NoteRoute {
  screen: 'note';
  target: string;
  snapshot: SnapshotRow;
  typing: TextEdit;
}

/** A question before something is replaced or removed. The plan is worked out while the place is shown. */
export interface ConfirmRoute {
  screen: 'confirm';
  target: string;
  title: string;
  plan: Plan | null;
  error: UserError | null;
  /** The name typed to confirm, where one is asked for. */
  typing: TextEdit | null;
  /** Ends the working out when one goes away. */
  controller: AbortController;
}

export type Plan =
  | { kind: 'build'; target: string; planned: PlannedSanitize | null }
  | { kind: 'sanitize'; planned: PlannedSanitize }
  | { kind: 'load'; planned: PlannedLoad }
  | { kind: 'remove'; plan: RemovePlan }
  | { kind: 'undo'; plan: UndoPlan }
  | { kind: 'subset'; planned: PlannedSubset };

export interface RunRoute {
  screen: 'run';
  run: string;
  /** Lines that the log is scrolled up; 0 follows what comes. */
  scrolledUp: number;
  /** Of the log, which has no selection: its filter. */
  list: ListState;
  typing: TextEdit | null;
}

/** What a sanitization of this session has changed. */
export interface CoverageRoute {
  screen: 'coverage';
  run: string;
  list: ListState;
}

/** The plan of a subset, which one may change before it is made. */
export interface SubsetRoute extends LookedUp<PlannedSubset> {
  screen: 'subset';
  target: string;
  /** `null` until the configured ones are known. */
  choices: SubsetChoices | null;
  /** Whether they differ from the configured ones. */
  changed: boolean;
  /** What is shown is of before the last change. */
  counting: boolean;
  list: ListState;
}

export interface TasksRoute {
  screen: 'tasks';
  list: ListState;
}

/** What was said of results in this session. */
export interface MessagesRoute {
  screen: 'messages';
  list: ListState;
}

export interface TablesRoute extends LookedUp<SnapshotTable[]> {
  screen: 'tables';
  target: string;
  snapshot: SnapshotRow;
  list: ListState;
  typing: TextEdit | null;
  /** Names of the tables to load. */
  marked: string[];
}

export interface DiffRoute extends LookedUp<DiffResult> {
  screen: 'diff';
  target: string;
  title: string;
  list: ListState;
}

/** The check of the configuration, with what mends what it found. */
export interface DoctorRoute extends LookedUp<Diagnosis> {
  screen: 'doctor';
  /** What was found before, shown until it is looked at anew. */
  before: Diagnosis | null;
  list: ListState;
}

/** What a fix would change, before it does. */
export interface FixRoute extends LookedUp<FixPlan> {
  screen: 'fix';
  /** What was found. */
  finding: string;
  list: ListState;
}

export interface ExportRoute {
  screen: 'export';
  target: string;
  snapshot: SnapshotRow;
  typing: TextEdit;
}

/** A question with a few answers, the safe one first. */
export interface ChoiceRoute {
  screen: 'choice';
  path: string[];
  question: string;
  lines: string[];
  options: ChoiceOption<string>[];
  answer: (value: string) => void;
}

/** Every action, found by some letters of its name. */
export interface PaletteRoute {
  screen: 'palette';
  /** Where it was opened: its actions are those of that place. */
  of: Route;
  typing: TextEdit;
  list: ListState;
}

export interface SignInRoute {
  screen: 'sign-in';
  /** The one that was chosen; without it the only one there is. */
  provider: string | undefined;
  /** Where to go; `null` until the provider has been asked. */
  prompt: SignInEvent | null;
  /** The URL as a picture, a line each. */
  qr: string[];
  result: SignedIn | null;
  error: UserError | null;
  /** Ends the waiting when one goes away. */
  controller: AbortController;
}

/** The question whether the configuration of the current folder is trusted. */
export interface TrustRoute {
  screen: 'trust';
  error: UntrustedConfiguration;
  lines: TrustLine[];
  list: ListState;
}

export type OtherRoute =
  | { screen: 'cancel'; run: string }
  | { screen: 'quit' }
  | { screen: 'help'; of: Route; scrolled: number };

export type FilteredRoute = TargetsRoute | SnapshotsRoute | TablesRoute | RunRoute;

export type Screen = Route['screen'];

/** Where the screens open: the targets, or one target's snapshots with the targets behind them. */
export function openingStack(target: string | undefined): [Route, ...Route[]] {
  const targets: TargetsRoute = {
    screen: 'targets',
    list: { ...emptyList, selected: target ?? null },
    typing: null,
    sort: 'configured',
  };
  return target === undefined ? [targets] : [targets, snapshotsRoute(target)];
}

export function snapshotsRoute(target: string): SnapshotsRoute {
  return { screen: 'snapshots', target, list: emptyList, typing: null, marked: [] };
}

export function runRoute(run: string): RunRoute {
  return { screen: 'run', run, scrolledUp: 0, list: emptyList, typing: null };
}

/** Where a filter is typed. */
export function isFiltered(route: Route): route is FilteredRoute {
  return ['targets', 'snapshots', 'tables', 'run'].includes(route.screen);
}

/** The text that keys go to at this place, if any is being typed. */
export function typingAt(route: Route): TextEdit | null {
  return 'typing' in route ? route.typing : null;
}
