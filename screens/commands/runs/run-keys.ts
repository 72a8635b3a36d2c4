import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { isLive, type Run } from '../../../src/state/runs.ts';
import { cancelQuestion } from '../../app/frame/run-text.ts';
import { refreshTargetsAnew } from '../../app/lists/refresh.ts';
import { type KeyBinding, type KeyContext, type Model, orNotify, quietly } from '../../app/model.ts';
import { onRun } from '../../app/on-selected.ts';
import { notWritable } from '../../app/why-not.ts';
import { startBuild } from '../build.ts';
import { includeQuestion } from './include-text.ts';
import { runRoute } from './run-route.ts';

/** The commands of a run, on its screen and in the list of runs. */
export const RUN_KEYS: KeyBinding[] = [
  {
    id: 'cancel',
    label: 'cancel',
    help: 'cancel the run, after a question; or remove it from the queue',
    palette: 'Cancel run…',
    when: ({ run }) => run !== null && isLive(run),
    whyNot: ({ run }) => (run?.cancelling ? 'It is being cancelled already' : null),
    run: onRun(cancel),
  },
  {
    id: 'refresh',
    label: 'retry',
    help: 'start the same run again',
    palette: 'Retry run',
    when: ({ run }) => run?.state.status === 'failed' || run?.state.status === 'cancelled',
    whyNot: (context) => {
      const overtaking = overtakenBy(context);
      return overtaking && `${overtaking.title} was started later: load again from the list of snapshots`;
    },
    run: onRun(retry),
  },
  {
    id: 'accept',
    label: 'include schemas',
    help: 'build again, including the schemas that tables require',
    palette: 'Build with required schemas',
    when: ({ run }) => run?.state.error?.code === 'schema_needed',
    whyNot: notWritable,
    run: onRun((model, { target }) => void startBuild(model, { target, includeNeededSchemas: true })),
  },
  {
    id: 'accept',
    label: 'include schemas',
    help: 'write schema_config, so that builds include all schemas, and build again; asks first',
    palette: 'Include all schemas…',
    when: ({ run }) => run?.kind === 'build' && run.summary?.lostSchemas !== undefined,
    whyNot: notWritable,
    run: onRun(askToInclude),
  },
  {
    id: 'accept',
    label: 'restore the rest',
    help: 'load again, restore what can be restored, and list what is missing; asks first',
    palette: 'Restore the rest…',
    when: ({ run }) => run?.kind === 'load' && run.state.error?.code === 'restore_failed',
    whyNot: notWritable,
    run: loadFurther('inspect'),
  },
  {
    id: 'accept',
    label: 'accept missing',
    help: 'load again, and replace the destination although something is missing; asks first',
    palette: 'Accept missing objects…',
    when: ({ run }) => run?.kind === 'load' && run.state.error?.code === 'restore_incomplete',
    whyNot: notWritable,
    run: loadFurther('swap'),
  },
];

/** A waiting run loses nothing: it is cancelled without a question. */
function cancel(model: Model, run: Run): void {
  if (run.state.status === 'waiting') model.runs.cancel(run.id);
  else
    model.navigation.push({
      ...{ screen: 'choice', path: [run.target, 'cancel'], ...cancelQuestion(run) },
      answer: (value) => value === 'cancel' && model.runs.cancel(run.id),
    });
}

/** Replaces the screen of the run that failed. */
function retry({ navigation, runs }: Model, { id }: Run): void {
  const again = runs.again(id);
  if (!again) return;
  if (navigation.top().screen === 'run') navigation.replace(runRoute(again));
  else navigation.push(runRoute(again));
}

/** The later run that has replaced or will replace the same database: the answered question is outdated. */
function overtakenBy({ model, run }: KeyContext): Run | null {
  if (!run || run.replaces === null) return null;
  const { runs } = model.runs.store.getState();
  const later = runs.slice(runs.findIndex(({ id }) => id === run.id) + 1);
  return later.find((other) => other.replaces === run.replaces && hasOrWillReplace(other)) ?? null;
}

function hasOrWillReplace(run: Run): boolean {
  return isLive(run) || run.state.status === 'done';
}

/** Left-out schemas: all of them from now on, since a list would miss the next one. */
function askToInclude(model: Model, { target, summary }: Run): void {
  model.navigation.push({
    screen: 'choice',
    path: [target, 'include schemas'],
    ...includeQuestion(target, summary?.lostSchemas ?? []),
    options: [
      { label: 'Cancel', value: 'cancel' },
      { label: 'Write and build again', value: 'build' },
      { label: 'Write only', value: 'write' },
    ],
    answer: (value) => {
      if (value !== 'cancel') void includeSchemas(model, { target, build: value === 'build' });
    },
  });
}

async function includeSchemas(model: Model, { target, build }: { target: string; build: boolean }): Promise<void> {
  const { operations, navigation } = model;
  const isWritten = await orNotify(model, async () => {
    const { file } = await operations.includeAllSchemas(quietly(new AbortController().signal), { target });
    navigation.notify({ tone: 'good', text: `Saved ${file}` });
    await refreshTargetsAnew(model);
  });
  if (isWritten && build) await startBuild(model, { target });
}

/** Loads again after a failure, with what to do about errors. */
function loadFurther(keepGoing: NonNullable<LoadRequest['keepGoing']>) {
  const title = `load ${keepGoing === 'swap' ? 'incomplete' : 'the rest'}`;
  return onRun(({ runs }, { id }) => runs.definitionOf(id)?.planAgain?.({ keepGoing }, title));
}
