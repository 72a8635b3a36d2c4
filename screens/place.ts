import type { ChoiceOption } from '../components/choice.tsx';
import type { TextEdit } from '../components/text-edit.ts';
import type { DiffLine } from '../src/config/edit/diff-lines.ts';
import type { UserError } from '../src/errors.ts';
import type { SignInEvent } from '../src/events.ts';
import type { CheckReport, EngineState } from '../src/operations/check.ts';
import type { Draft } from '../src/operations/edit-configuration.ts';
import type { PlannedLoad } from '../src/operations/load.ts';
import type { PlannedSanitize } from '../src/operations/sanitize.ts';
import type { SubsetChoices } from '../src/operations/save-subset.ts';
import type { SetUpPlan } from '../src/operations/set-up.ts';
import type { SignedIn } from '../src/operations/sign-in-status.ts';
import type { PlannedSubset } from '../src/operations/subset.ts';
import type { TriedDestination, TriedSource } from '../src/operations/try-connection.ts';
import type { DiffResult, RemovePlan, Sized, SnapshotRow, SnapshotTable, UndoPlan } from '../src/results.ts';
import { emptyList, type ListState } from '../src/state/list.ts';
import type { LookedUp } from './looked-up.ts';
import type { SetupAnswers, SetupStepId } from './setup/step-ids.ts';

/** What the targets are sorted by. */
export type Sort = 'configured' | 'name' | 'status' | 'size' | 'snapshots' | 'type';

/** A screen and all that it shows which is not in a store: what is selected, typed, asked. */
export type Place =
  | TargetsPlace
  | SnapshotsPlace
  | NotePlace
  | ConfirmPlace
  | RunPlace
  | CoveragePlace
  | SubsetPlace
  | TasksPlace
  | PalettePlace
  | TablesPlace
  | DiffPlace
  | DoctorPlace
  | ExportPlace
  | SetupPlace
  | EditorPlace
  | EditorDiffPlace
  | EditorProblemsPlace
  | ChoicePlace
  | SignInPlace
  | OtherPlace;

export interface TargetsPlace {
  screen: 'targets';
  list: ListState;
  /** The filter while it is being typed. */
  typing: TextEdit | null;
  sort: Sort;
}

export interface SnapshotsPlace {
  screen: 'snapshots';
  target: string;
  list: ListState;
  typing: TextEdit | null;
  /** Ids of the snapshots to compare. */
  marked: string[];
}

export interface NotePlace {
  screen: 'note';
  target: string;
  snapshot: SnapshotRow;
  typing: TextEdit;
}

/** A question before something is replaced or removed. The plan is worked out while the place is shown. */
export interface ConfirmPlace {
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

export interface RunPlace {
  screen: 'run';
  run: string;
  /** Lines that the log is scrolled up; 0 follows what comes. */
  scrolledUp: number;
}

/** What a sanitization of this session has changed. */
export interface CoveragePlace {
  screen: 'coverage';
  run: string;
  list: ListState;
}

/** The plan of a subset, which one may change before it is made. */
export interface SubsetPlace extends LookedUp<PlannedSubset> {
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

export interface TasksPlace {
  screen: 'tasks';
  list: ListState;
}

export interface TablesPlace extends LookedUp<SnapshotTable[]> {
  screen: 'tables';
  target: string;
  snapshot: SnapshotRow;
  list: ListState;
  typing: TextEdit | null;
  /** Names of the tables to load. */
  marked: string[];
}

export interface DiffPlace extends LookedUp<DiffResult> {
  screen: 'diff';
  target: string;
  title: string;
  list: ListState;
}

export interface DoctorPlace extends LookedUp<CheckReport> {
  screen: 'doctor';
  list: ListState;
}

export interface ExportPlace {
  screen: 'export';
  target: string;
  snapshot: SnapshotRow;
  typing: TextEdit;
}

/** The wizard for a first configuration. */
export interface SetupPlace {
  screen: 'setup';
  /** Which question. */
  step: SetupStepId;
  /** The file given with `--config`: it is not asked for then. */
  config: string | undefined;
  answers: SetupAnswers;
  /** Schemas that do not belong into a snapshot. */
  leftOut: string[];
  found: SetupFound;
  typing: TextEdit | null;
  /** Ends what is being tried or written; `null` when nothing is. */
  busy: AbortController | null;
  /** Lines that the file is scrolled up. */
  scrolledUp: number;
  error: UserError | null;
}

/** What the wizard has found out so far. */
export interface SetupFound {
  /** `null` until they have been looked for. */
  engines: EngineState[] | null;
  databases: Sized[];
  source: TriedSource | null;
  destination: TriedDestination | null;
  /** Profiles of the storage's command-line client. */
  cliProfiles: string[];
  /** The bucket that was tried: `s3://bucket/prefix`. */
  storage: string | null;
  plan: SetUpPlan | null;
}

/** The configuration as a tree of its sections with a form for each; nothing is written before it is saved. */
export interface EditorPlace {
  screen: 'editor';
  /** `null` until the file is read. */
  draft: Draft | null;
  error: UserError | null;
  /** Changes are made one after the other, each on what the one before it made. */
  queue: { last: Promise<void> };
  pane: 'tree' | 'form';
  /** The sections. */
  list: ListState;
  /** The fields of the selected section. */
  fields: ListState;
  /** Entries of maps, such as targets, whose sections are shown. */
  unfolded: string[];
  /** What is typed is a value of the selected field, or a name. */
  task: 'value' | 'add' | 'rename';
  typing: TextEdit | null;
  /** What is wrong with what is typed. */
  wrong: string | null;
}

/** What saving would change. */
export interface EditorDiffPlace {
  screen: 'editor-diff';
  draft: Draft;
  lines: DiffLine[];
  list: ListState;
}

export interface EditorProblemsPlace {
  screen: 'editor-problems';
  draft: Draft;
  list: ListState;
}

/** A question with a few answers, the safe one first. */
export interface ChoicePlace {
  screen: 'choice';
  path: string[];
  question: string;
  lines: string[];
  options: ChoiceOption<string>[];
  answer: (value: string) => void;
}

/** Every action, found by some letters of its name. */
export interface PalettePlace {
  screen: 'palette';
  /** Where it was opened: its actions are those of that place. */
  of: Place;
  typing: TextEdit;
  list: ListState;
}

export interface SignInPlace {
  screen: 'sign-in';
  /** Where to go; `null` until the provider has been asked. */
  prompt: SignInEvent | null;
  /** The URL as a picture, a line each. */
  qr: string[];
  result: SignedIn | null;
  error: UserError | null;
  /** Ends the waiting when one goes away. */
  controller: AbortController;
}

export type OtherPlace =
  | { screen: 'cancel'; run: string }
  | { screen: 'quit' }
  | { screen: 'help'; of: Place; scrolled: number };

export type Screen = Place['screen'];

/** Where the screens open: the targets, or one target's snapshots with the targets behind them. */
export function openingStack(target: string | undefined): [Place, ...Place[]] {
  const targets: TargetsPlace = {
    screen: 'targets',
    list: { ...emptyList, selected: target ?? null },
    typing: null,
    sort: 'configured',
  };
  return target === undefined ? [targets] : [targets, snapshotsPlace(target)];
}

export function snapshotsPlace(target: string): SnapshotsPlace {
  return { screen: 'snapshots', target, list: emptyList, typing: null, marked: [] };
}

/** The text that keys go to at this place, if any is being typed. */
export function typingAt(place: Place): TextEdit | null {
  return 'typing' in place ? place.typing : null;
}
