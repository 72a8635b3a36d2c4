import type { SnapshotRow } from '../../src/results.ts';
import type { Message } from '../../src/state/messages.ts';
import { isLive, type Run } from '../../src/state/runs.ts';
import type { TargetEntry } from '../../src/state/targets.ts';
import type { DoctorRow } from '../doctor/rows.ts';
import { selectedFinding } from '../doctor/selection.ts';
import { suggestionsAt } from '../editor/names.ts';
import {
  type Model,
  runWithId,
  selectedMessage,
  selectedSnapshot,
  selectedTarget,
  selectedTask,
  targetNamed,
} from './model.ts';
import { type Place, type SignInPlace, typingAt } from './place.ts';

/** What the key table may ask about when it says whether a key has a meaning here and now. */
export interface Facts {
  readOnly: boolean;
  /** The target that a key would act on. */
  target: TargetEntry | null;
  snapshot: SnapshotRow | null;
  run: Run | null;
  /** The message that is selected where messages are listed. */
  message: Message | null;
  /** Later work that has replaced, or is about to replace, the same database as the run. */
  overtaken: Run | null;
  /** There is no configuration at all. */
  unconfigured: boolean;
  filtered: boolean;
  /** What the place looks up is there. */
  found: boolean;
  /** Keys are text. */
  typing: boolean;
  /** Names that exist are offered for it. */
  offering: boolean;
  /** Ids of the snapshots, or names of the tables, that are marked. */
  marked: string[];
  atRoot: boolean;
  /** Whether a text is longer than the window, as it was drawn last. */
  scrolls: boolean;
  tasks: number;
  /** Whether the wizard asks something or shows the file; `null` elsewhere. */
  setup: 'question' | 'file' | null;
  /** How far signing in is; `null` elsewhere. */
  signIn: 'asking' | 'waiting' | 'done' | 'failed' | null;
  /** What is selected of what the check has found. */
  finding: DoctorRow | null;
}

export function factsOf(model: Model, place: Place = model.navigation.top()): Facts {
  const { stack } = model.navigation.store.getState();
  const run = runAt(model, place);
  const target = targetAt(model, place, run);
  return {
    readOnly: model.readOnly,
    target,
    snapshot: snapshotAt(model, place),
    run,
    message: place.screen === 'messages' ? selectedMessage(model.messages.store.getState(), place) : null,
    overtaken: run && overtakenBy(model.runs.store.getState().runs, run),
    marked: 'marked' in place ? place.marked : [],
    unconfigured: model.targets.getState().error?.code === 'no_configuration',
    found: 'found' in place && isFound(place),
    typing: typingAt(place) !== null,
    offering: place.screen === 'editor' && (suggestionsAt(place)?.names.length ?? 0) > 0,
    filtered: 'list' in place && place.list.filter !== '',
    atRoot: place === stack[0],
    scrolls: model.viewport.furthest > 0,
    tasks: model.runs.store.getState().runs.length,
    setup: place.screen === 'setup' ? (place.step === 'review' ? 'file' : 'question') : null,
    signIn: place.screen === 'sign-in' ? signInState(place) : null,
    finding: place.screen === 'doctor' ? selectedFinding(place) : null,
  };
}

function isFound(place: Extract<Place, { found: unknown }>): boolean {
  const isOld = 'counting' in place && place.counting;
  return place.found !== null && place.error === null && !isOld;
}

function signInState({ prompt, result, error }: SignInPlace): Facts['signIn'] {
  if (error) return 'failed';
  if (result) return 'done';
  return prompt ? 'waiting' : 'asking';
}

function snapshotAt(model: Model, place: Place): SnapshotRow | null {
  if (place.screen === 'tables') return place.snapshot;
  return place.screen === 'snapshots' ? selectedSnapshot(model, place) : null;
}

function runAt(model: Model, place: Place): Run | null {
  const { runs } = model.runs.store.getState();
  if (place.screen === 'tasks') return selectedTask(runs, place);
  return 'run' in place ? runWithId(runs, place.run) : null;
}

/** What an old question said of the database is not true any more. */
function overtakenBy(runs: Run[], { id, replaces }: Run): Run | null {
  const later = runs.slice(runs.findIndex((run) => run.id === id) + 1);
  return later.find((run) => replaces !== null && run.replaces === replaces && hasOrWillReplace(run)) ?? null;
}

function hasOrWillReplace(run: Run): boolean {
  return isLive(run) || run.state.status === 'done';
}

function targetAt(model: Model, place: Place, run: Run | null): TargetEntry | null {
  if (place.screen === 'targets') return selectedTarget(model, place);
  const name = run?.target ?? ('target' in place ? place.target : null);
  return name === null ? null : targetNamed(model.targets.getState(), name);
}
