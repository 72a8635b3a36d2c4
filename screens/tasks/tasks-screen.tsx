import { Box, useAnimation } from 'ink';
import { useStore } from 'zustand';
import { Empty } from '../../components/empty.tsx';
import type { Span } from '../../components/line.tsx';
import { TableList } from '../../components/table-list.tsx';
import { useTheme } from '../../components/theme.ts';
import { formatNumberOf } from '../../src/amounts.ts';
import { selectedIndex } from '../../src/state/list.ts';
import { isLive, type Run } from '../../src/state/runs.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import type { TasksRoute } from '../app/route.ts';
import { taskColumns } from './columns.ts';

/** All work of the session, newest first: it goes on wherever one is. */
export function TasksView({ route }: { route: TasksRoute }) {
  const model = useModel();
  const { glyphs } = useTheme();
  const { columns, height } = useRoom();
  const inOrder = useStore(model.runs.store, (state) => state.runs);
  useAnimation({ interval: 1000, isActive: inOrder.some(isLive) });
  const runs = inOrder.toReversed();
  const ids = runs.map(({ id }) => id);
  return (
    <Frame screen="tasks" path={['tasks']} aside={countOf(runs)}>
      {runs.length === 0 ? (
        <Empty lines={['Nothing has been done yet in this session.', 'Builds, loads and the like are listed here.']} />
      ) : (
        <Box flexDirection="column" height={height}>
          <TableList
            columns={taskColumns(inOrder, { glyphs, now: model.clock().getTime() })}
            rows={runs}
            keyOf={({ id }) => id}
            selected={selectedIndex(ids, route.list.selected)}
            width={columns}
            height={height}
          />
        </Box>
      )}
    </Frame>
  );
}

function countOf(runs: Run[]): Span[] {
  const waiting = runs.filter(({ state }) => state.status === 'waiting').length;
  const text = formatNumberOf(runs.length, 'task') + (waiting > 0 ? `, ${waiting} waiting` : '');
  return [{ text, tone: 'dim' }];
}
