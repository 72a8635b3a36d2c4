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
import { type Route, type SignInRoute, typingAt } from './route.ts';

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

export function factsOf(model: Model, route: Route = model.navigation.top()): Facts {
  const { stack } = model.navigation.store.getState();
  const run = runAt(model, route);
  const target = targetAt(model, route, run);
  return {
    readOnly: model.readOnly,
    target,
    snapshot: snapshotAt(model, route),
    run,
    message: route.screen === 'messages' ? selectedMessage(model.messages.store.getState(), route) : null,
    overtaken: run && overtakenBy(model.runs.store.getState().runs, run),
    marked: 'marked' in route ? route.marked : [],
    unconfigured: model.targets.getState().error?.code === 'no_configuration',
    found: 'found' in route && isFound(route),
    typing: typingAt(route) !== null,
    offering: route.screen === 'editor' && (suggestionsAt(route)?.names.length ?? 0) > 0,
    filtered: 'list' in route && route.list.filter !== '',
    atRoot: route === stack[0],
    scrolls: model.viewport.furthest > 0,
    tasks: model.runs.store.getState().runs.length,
    setup: route.screen === 'setup' ? (route.step === 'review' ? 'file' : 'question') : null,
    signIn: route.screen === 'sign-in' ? signInState(route) : null,
    finding: route.screen === 'doctor' ? selectedFinding(route) : null,
  };
}

function isFound(route: Extract<Route, { found: unknown }>): boolean {
  const isOld = 'counting' in route && route.counting;
  return route.found !== null && route.error === null && !isOld;
}

function signInState({ prompt, result, error }: SignInRoute): Facts['signIn'] {
  if (error) return 'failed';
  if (result) return 'done';
  return prompt ? 'waiting' : 'asking';
}

function snapshotAt(model: Model, route: Route): SnapshotRow | null {
  if (route.screen === 'tables') return route.snapshot;
  return route.screen === 'snapshots' ? selectedSnapshot(model, route) : null;
}

function runAt(model: Model, route: Route): Run | null {
  const { runs } = model.runs.store.getState();
  if (route.screen === 'tasks') return selectedTask(runs, route);
  return 'run' in route ? runWithId(runs, route.run) : null;
}

/** What an old question said of the database is not true any more. */
function overtakenBy(runs: Run[], { id, replaces }: Run): Run | null {
  const later = runs.slice(runs.findIndex((run) => run.id === id) + 1);
  return later.find((run) => replaces !== null && run.replaces === replaces && hasOrWillReplace(run)) ?? null;
}

function hasOrWillReplace(run: Run): boolean {
  return isLive(run) || run.state.status === 'done';
}

function targetAt(model: Model, route: Route, run: Run | null): TargetEntry | null {
  if (route.screen === 'targets') return selectedTarget(model, route);
  const name = run?.target ?? ('target' in route ? route.target : null);
  return name === null ? null : targetNamed(model.targets.getState(), name);
}
