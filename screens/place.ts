import type { TextEdit } from '../components/text-edit.ts';
import type { UserError } from '../src/errors.ts';
import type { SignInEvent } from '../src/events.ts';
import type { PlannedLoad } from '../src/operations/load.ts';
import type { SignedIn } from '../src/operations/sign-in-status.ts';
import type { RemovePlan, SnapshotRow, UndoPlan } from '../src/results.ts';
import { emptyList, type ListState } from '../src/state/list.ts';

/** A screen and all that it shows which is not in a store: what is selected, typed, asked. */
export type Place =
  | TargetsPlace
  | SnapshotsPlace
  | NotePlace
  | ConfirmPlace
  | RunPlace
  | TasksPlace
  | SignInPlace
  | OtherPlace;

export interface TargetsPlace {
  screen: 'targets';
  list: ListState;
  /** The filter while it is being typed. */
  typing: TextEdit | null;
}

export interface SnapshotsPlace {
  screen: 'snapshots';
  target: string;
  list: ListState;
  typing: TextEdit | null;
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
  | { kind: 'load'; planned: PlannedLoad }
  | { kind: 'remove'; plan: RemovePlan }
  | { kind: 'undo'; plan: UndoPlan };

export interface RunPlace {
  screen: 'run';
  run: string;
  /** Lines that the log is scrolled up; 0 follows what comes. */
  scrolledUp: number;
}

export interface TasksPlace {
  screen: 'tasks';
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

export type Screen =
  | 'targets'
  | 'snapshots'
  | 'note'
  | 'confirm'
  | 'run'
  | 'tasks'
  | 'sign-in'
  | 'cancel'
  | 'quit'
  | 'help';

/** Where the screens open: the targets, or one target's snapshots with the targets behind them. */
export function openingStack(target: string | undefined): [Place, ...Place[]] {
  const targets: TargetsPlace = { screen: 'targets', list: { ...emptyList, selected: target ?? null }, typing: null };
  return target === undefined ? [targets] : [targets, snapshotsPlace(target)];
}

export function snapshotsPlace(target: string): SnapshotsPlace {
  return { screen: 'snapshots', target, list: emptyList, typing: null };
}

/** The text that keys go to at this place, if any is being typed. */
export function typingAt(place: Place): TextEdit | null {
  return 'typing' in place ? place.typing : null;
}
