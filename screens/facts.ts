import type { SnapshotRow } from '../src/results.ts';
import type { Run } from '../src/state/runs.ts';
import type { TargetEntry } from '../src/state/targets.ts';
import { type Model, runWithId, selectedSnapshot, selectedTarget, targetNamed } from './model.ts';
import type { Place, SignInPlace } from './place.ts';

/** What the key table may ask about when it says whether a key has a meaning here and now. */
export interface Facts {
  readOnly: boolean;
  /** The target that a key would act on. */
  target: TargetEntry | null;
  snapshot: SnapshotRow | null;
  run: Run | null;
  /** Work on that target that is going on and must end first. */
  busy: Run | null;
  /** There is no configuration at all. */
  unconfigured: boolean;
  filtered: boolean;
  /** Ids of the snapshots, or names of the tables, that are marked. */
  marked: string[];
  atRoot: boolean;
  tasks: number;
  /** Whether the wizard asks something or shows the file; `null` elsewhere. */
  setup: 'question' | 'file' | null;
  /** How far signing in is; `null` elsewhere. */
  signIn: 'asking' | 'waiting' | 'done' | 'failed' | null;
}

export function factsOf(model: Model, place: Place = model.navigation.top()): Facts {
  const { stack } = model.navigation.store.getState();
  const run = 'run' in place ? runWithId(model.runs.store.getState().runs, place.run) : null;
  const target = targetAt(model, place, run);
  const name = target?.row.name;
  return {
    readOnly: model.readOnly,
    target,
    snapshot: snapshotAt(model, place),
    run,
    busy: model.runs.running().find((other) => other.target === name) ?? null,
    marked: 'marked' in place ? place.marked : [],
    unconfigured: model.targets.getState().error?.code === 'no_configuration',
    filtered: 'list' in place && place.list.filter !== '',
    atRoot: place === stack[0],
    tasks: model.runs.store.getState().runs.length,
    setup: place.screen === 'setup' ? (place.step === 'review' ? 'file' : 'question') : null,
    signIn: place.screen === 'sign-in' ? signInState(place) : null,
  };
}

function signInState({ prompt, result, error }: SignInPlace): Facts['signIn'] {
  if (error) return 'failed';
  if (result) return 'done';
  return prompt ? 'waiting' : 'asking';
}

function snapshotAt(model: Model, place: Place): SnapshotRow | null {
  if (place.screen === 'tables') return place.snapshot;
  return place.screen === 'snapshots' ? selectedSnapshot(model.snapshots.getState(), place) : null;
}

function targetAt(model: Model, place: Place, run: Run | null): TargetEntry | null {
  const state = model.targets.getState();
  if (place.screen === 'targets') return selectedTarget(state, place);
  const name = run?.target ?? ('target' in place ? place.target : null);
  return name === null ? null : targetNamed(state, name);
}
