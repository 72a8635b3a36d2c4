import { Box, useAnimation } from 'ink';
import { useMemo } from 'react';
import { Empty } from '../../components/empty.tsx';
import { Lines, type Span, spansWidth } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import {
  type ChangeEntry,
  changeFacts,
  changeListColumns,
  changesCount,
  nothingChanged,
  REVEALED,
  sinceLine,
} from '../../src/operations/changes/list-text.ts';
import { overallProgress } from '../../src/state/overall-progress.ts';
import { cellWidth } from '../../src/text/text-width.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { progressLines } from '../app/frame/progress-lines.ts';
import { stepLines } from '../app/frame/step-lines.ts';
import { ACTIVITY, BACK, LIST_KEYS, REFRESH } from '../app/keys.ts';
import { FILTER, FILTERED, isFiltering } from '../app/lists/filter.ts';
import type { ScreenModule } from '../app/model.ts';
import { LOADING, noMatchLines } from '../app/text.ts';
import { refreshChanges } from '../commands/changes.ts';
import { COPY_SQL, OPEN_CHANGE, RETURN_TO_BASE, REVEAL_CHANGES } from './actions.ts';
import { type ChangesRoute, entriesInView } from './changes-route.ts';

export const changesScreen: ScreenModule<ChangesRoute> = {
  title: 'Changes since an earlier state',
  view: ChangesView,
  keys: [OPEN_CHANGE, ...FILTER, REVEAL_CHANGES, COPY_SQL, RETURN_TO_BASE, BACK, REFRESH, ACTIVITY, ...LIST_KEYS],
  rows: (_, route) => ({ ids: entriesInView(route).map(({ id }) => id) }),
  onRefresh: async (model, { target }) => refreshChanges(model, target),
  ...FILTERED,
  linesAboveRows: (route) => FILTERED.linesAboveRows(route) + 1,
};

/** Columns. */
const NARROW_BELOW = 60;

function ChangesView({ route }: { route: ChangesRoute }) {
  const { target, branch, found, error } = route;
  const { columns: width } = useRoom();
  const narrow = width < NARROW_BELOW;
  const columns = useMemo(() => changeListColumns({ narrow }), [narrow]);
  const path = [target, ...(branch === undefined ? [] : [branch]), 'changes'];
  if (!found && !error) return <Reading route={route} path={path} />;
  const result = found?.result;
  const entries = entriesInView(route);
  return (
    <ListFrame<ChangeEntry>
      route={route}
      path={path}
      aside={countSpans(route, width - cellWidth(path.join(' ❯ ')))}
      {...(result && { above: [{ text: `  ${sinceLine(result)}`, tone: 'dim' as const }] })}
      columns={columns}
      rows={entries}
      empty={result && !isFiltering(route) ? nothingChanged(result) : noMatchLines('changes')}
      detail={changeFacts}
      filtered
    />
  );
}

/** Cells of `tool` and what is beside the path. */
const PATH_MARGIN = 16;

/** Short where it would cut the path, which leaves so many cells. */
function countSpans({ found, revealed }: ChangesRoute, room: number): Span[] {
  if (!found) return [];
  const { full, brief } = changesCount(found.result);
  const mark: Span[] = revealed ? [{ text: REVEALED, tone: 'caution' }] : [];
  const isRoom = spansWidth(mark) + cellWidth(full) + PATH_MARGIN <= room;
  return [...mark, { text: isRoom ? full : brief, tone: 'dim' }];
}

/** The steps of the reading with their progress, as of a run. */
function Reading({ route: { state }, path }: { route: ChangesRoute; path: string[] }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  useAnimation({ interval: 500 });
  const now = model.clock().getTime();
  const width = columns - 4;
  const head = progressLines({ run: { state }, now, width, glyphs });
  const { steps } = overallProgress(state, now);
  const tables = height - LOADING.changes.length - steps.length - head.length - 3;
  return (
    <Frame path={path}>
      <Empty lines={LOADING.changes} />
      <Box flexDirection="column" paddingLeft={2} paddingTop={1}>
        <Lines lines={[...head, ...stepLines({ steps, now, width, tables, glyphs })]} width={width} />
      </Box>
    </Frame>
  );
}
