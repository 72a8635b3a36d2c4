import { Box } from 'ink';
import { useStore } from 'zustand';
import { Line } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { type Column, layOutTable, tableHead, tableRow } from '../../components/table.ts';
import { type Glyphs, type Tone, useTheme } from '../../components/theme.ts';
import { formatDuration, formatNumberOf } from '../../src/amounts.ts';
import { selectedIndex } from '../../src/state/list.ts';
import { elapsed } from '../../src/state/run.ts';
import type { Run } from '../../src/state/runs.ts';
import { Frame, useModel, useRoom } from '../frame.tsx';
import type { TasksPlace } from '../place.ts';

/** All work of the session, newest first: it goes on wherever one is. */
export function TasksScreen({ place }: { place: TasksPlace }) {
  const model = useModel();
  const { glyphs } = useTheme();
  const { columns, height } = useRoom();
  const runs = useStore(model.runs.store, (state) => state.runs).toReversed();
  const layout = layOutTable(taskColumns(glyphs, model.clock().getTime()), runs, columns - 3);
  const ids = runs.map(({ id }) => id);
  return (
    <Frame screen="tasks" path={['tasks']} aside={[{ text: formatNumberOf(runs.length, 'task'), tone: 'dim' }]}>
      <Box flexDirection="column" height={height}>
        <Line spans={[{ text: '  ' }, ...tableHead(layout, glyphs.ellipsis)]} width={columns} />
        <List
          items={runs}
          keyOf={({ id }) => id}
          row={(run) => tableRow(layout, run, glyphs.ellipsis)}
          selected={selectedIndex(ids, place.list.selected)}
          width={columns}
          height={height - 1}
        />
      </Box>
    </Frame>
  );
}

const LOOKS: Record<Run['state']['status'], { glyph: 'running' | 'good' | 'bad' | 'caution'; tone: Tone }> = {
  running: { glyph: 'running', tone: 'accent' },
  done: { glyph: 'good', tone: 'good' },
  failed: { glyph: 'bad', tone: 'bad' },
  cancelled: { glyph: 'caution', tone: 'caution' },
};

function taskColumns(glyphs: Glyphs, now: number): Column<Run>[] {
  return [
    {
      title: 'STATE',
      cell: ({ state }) => ({
        text: `${glyphs[LOOKS[state.status].glyph]} ${state.status}`,
        tone: LOOKS[state.status].tone,
      }),
    },
    { title: 'TIME', align: 'right', cell: ({ state }) => ({ text: formatDuration(elapsed(state, now)) }) },
    {
      title: 'TASK',
      grows: true,
      cell: (run) => ({ text: run.receipt?.line ?? run.state.error?.message ?? run.title }),
    },
  ];
}
