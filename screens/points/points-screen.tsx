import { useMemo } from 'react';
import { countedPoints, NO_POINT, pointColumns, pointFacts } from '../../src/operations/back/text.ts';
import type { BackPoint } from '../../src/results/saves/save-results.ts';
import { useModel } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { ACTIVITY, BACK, LIST_KEYS, REFRESH } from '../app/keys.ts';
import { minuteOf, type ScreenModule } from '../app/model.ts';
import { LOADING } from '../app/text.ts';
import { POINT_CHANGES, REMOVE_SAVE, RETURN, SAVE_STATE } from './actions.ts';
import { type PointsRoute, pointRows, pointsOf, refreshPoints } from './points-route.ts';

export const pointsScreen: ScreenModule<PointsRoute> = {
  title: 'Points to return to',
  view: PointsView,
  keys: [RETURN, POINT_CHANGES, SAVE_STATE, REMOVE_SAVE, BACK, REFRESH, ACTIVITY, ...LIST_KEYS],
  rows: (_, route) => pointRows(route),
  onRefresh: async (model, { target }) => refreshPoints(model, target),
};

function PointsView({ route }: { route: PointsRoute }) {
  const { target, branch, found } = route;
  const minute = minuteOf(useModel());
  const points = pointsOf(route);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the points are made of
  const columns = useMemo(() => pointColumns(points, new Date(minute)), [found, minute]);
  return (
    <ListFrame<BackPoint>
      route={route}
      path={[target, ...(branch === undefined ? [] : [branch]), 'back']}
      aside={found ? [{ text: countedPoints(found), tone: 'dim' }] : []}
      columns={columns}
      rows={points}
      empty={found ? [NO_POINT] : LOADING.points}
      detail={(point) => pointFacts(point, found ?? { destination: '' })}
    />
  );
}
