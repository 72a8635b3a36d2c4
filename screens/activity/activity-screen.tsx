import { useAnimation } from 'ink';
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { useTheme } from '../../components/theme.ts';
import { isLive } from '../../src/state/runs.ts';
import { activityColumns, activityCount, activityDetail } from '../app/frame/activity-text.ts';
import { useModel } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { refreshHistory } from '../app/lists/activity.ts';
import { FILTERED } from '../app/lists/filter.ts';
import { minuteOf, type ScreenModule, targetNamed } from '../app/model.ts';
import { EMPTY, LOADING, noMatchLines } from '../app/text.ts';
import { type ActivityRoute, activityInView, allActivity, selectedActivity } from './activity-route.ts';
import { ACTIVITY_KEYS } from './keys.ts';

export const activityScreen: ScreenModule<ActivityRoute> = {
  title: 'Activity: runs, messages and history',
  view: ActivityView,
  keys: ACTIVITY_KEYS,
  rows: (model, route) => ({ ids: activityInView(model, route).map(({ id }) => id) }),
  selected: (model, route) => {
    const { run = null, target = null } = selectedActivity(model, route) ?? {};
    return { run, target: target === null ? null : targetNamed(model.targets.getState(), target) };
  },
  onRefresh: refreshHistory,
  ...FILTERED,
  listsRuns: true,
};

function ActivityView({ route }: { route: ActivityRoute }) {
  const model = useModel();
  const { glyphs } = useTheme();
  const isRunning = useStore(model.runs.store, ({ runs }) => runs.some(isLive));
  useStore(model.runs.store);
  useStore(model.messages.store);
  const { found, error } = useStore(model.history);
  const damaged = found?.damaged_lines ?? 0;
  const none = found || error ? EMPTY.activity : LOADING.activity;
  // Durations of runs in progress.
  useAnimation({ interval: 1000, isActive: isRunning });
  const now = minuteOf(model);
  const columns = useMemo(() => activityColumns({ glyphs, now }), [glyphs, now]);
  const rows = activityInView(model, route);
  const all = allActivity(model, route);
  return (
    <ListFrame
      route={route}
      path={[...(route.of === null ? [] : [route.of]), 'activity']}
      aside={[{ text: activityCount(all, { shown: rows.length, damaged }), tone: 'dim' }]}
      columns={columns}
      rows={rows}
      empty={all.length === 0 ? none : noMatchLines('activity')}
      detail={activityDetail}
      filtered
    />
  );
}
