import { BACK, LIST_KEYS, REFRESH } from '../app/keys.ts';
import { FILTER } from '../app/lists/filter.ts';
import type { KeyBinding, KeyContext, Model } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import { startBuild } from '../commands/build.ts';
import { confirmLoad } from '../commands/load.ts';
import { openSnapshot } from '../commands/open-target.ts';
import { confirmReset, UNDO } from '../commands/reset.ts';
import { RUN_KEYS } from '../commands/runs/run-keys.ts';
import { runRoute } from '../commands/runs/run-route.ts';
import { type ActivityRoute, selectedActivity } from './activity-route.ts';

/** Operations that are repeated without their original request; a load and a reset ask first. */
const AGAIN: Record<string, (model: Model, of: { target: string; snapshot: string | null }) => void> = {
  build: (model, { target }) => void startBuild(model, { target }),
  load: (model, { target, snapshot }) =>
    confirmLoad(model, { target, ...(snapshot !== null && { snapshot }) }, snapshot ?? 'latest'),
  reset: (model, { target }) => confirmReset(model, target),
};

export const ACTIVITY_KEYS: KeyBinding<ActivityRoute>[] = [
  {
    keys: ['enter', 'right'],
    label: 'open',
    help: 'open the snapshot that was made or loaded; a sanitization, a run in progress or failed with its steps',
    whyNot: ({ model, route }) => (opened(model, route) ? null : 'There is nothing to open'),
    run: (model, route) => opened(model, route)?.(),
  },
  ...FILTER,
  ...RUN_KEYS,
  {
    id: 'log',
    label: 'log',
    help: 'the run with its log',
    palette: 'Open log of the run',
    whyNot: ({ run }) => (run ? null : 'Only runs of this session have a log here: debug: true keeps one in a file'),
    run: (model, route) => {
      const run = selectedActivity(model, route)?.run;
      if (run) model.navigation.push({ ...runRoute(run.id), log: true });
    },
  },
  {
    id: 'repeat',
    label: 'repeat',
    help: 'do it again: a build at once, a load or a reset after its question',
    palette: 'Repeat',
    when: ({ run }) => run === null || run.state.status === 'done',
    whyNot: (context) =>
      notWritable(context) ?? (repeated(context) ? null : 'Only builds, loads and resets are repeated'),
    run: (model, route) => repeated({ model, route })?.(),
  },
  { ...UNDO, when: ({ target }) => target !== null },
  BACK,
  REFRESH,
  ...LIST_KEYS,
];

function opened(model: Model, route: ActivityRoute): (() => void) | null {
  const { target = null, snapshot = null, status, run = null } = selectedActivity(model, route) ?? {};
  const hasCoverage = run?.summary?.sanitized !== undefined;
  if (status === 'done' && !hasCoverage && target !== null && snapshot !== null)
    return () => openSnapshot(model, { target, snapshot });
  return run && (() => model.navigation.push(runRoute(run.id)));
}

function repeated({ model, route }: Pick<KeyContext<ActivityRoute>, 'model' | 'route'>): (() => void) | null {
  const { target = null, snapshot = null, run = null, recorded = null } = selectedActivity(model, route) ?? {};
  const again = AGAIN[run?.kind ?? recorded?.operation ?? ''];
  return again && target !== null ? () => again(model, { target, snapshot }) : null;
}
