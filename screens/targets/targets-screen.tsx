import { Box } from 'ink';
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { Facts } from '../../components/facts.tsx';
import { Line, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { layOutTable, tableHead, tableRow } from '../../components/table.ts';
import { useTheme } from '../../components/theme.ts';
import { formatNumberOf } from '../../src/amounts.ts';
import type { TargetEntry } from '../../src/state/targets.ts';
import { Empty, Failure } from '../empty.tsx';
import { FilterLine } from '../filter-line.tsx';
import { Frame, useModel, useRoom } from '../frame.tsx';
import { selectedTarget, targetsInView } from '../model.ts';
import type { TargetsPlace } from '../place.ts';
import { targetColumns } from './columns.ts';
import { targetFacts } from './target-facts.ts';

const POINTER_WIDTH = 2;
const DETAIL_ROWS = 7;

/** Every target with its source's live state. */
export function TargetsScreen({ place }: { place: TargetsPlace }) {
  const model = useModel();
  const state = useStore(model.targets);
  const { columns, height, wide } = useRoom();
  const entries = targetsInView(state, place);
  const selected = selectedTarget(state, place);
  const filtering = place.typing !== null || place.list.filter !== '';
  // Beside the list where there is room, below it where the window is high enough.
  const detail = wide ? 'beside' : height >= 16 ? 'below' : 'none';
  const listWidth = detail === 'beside' ? Math.floor(columns * 0.6) : columns;
  const listHeight = height - (filtering ? 1 : 0) - (detail === 'below' ? DETAIL_ROWS + 1 : 0);
  return (
    <Frame screen="targets" path={['targets']} aside={countOf(entries.length, state.entries.length)}>
      {filtering && <FilterLine typing={place.typing} filter={place.list.filter} width={columns} />}
      {state.error && <Failure error={state.error} width={columns} />}
      {entries.length === 0 && !state.error && <NoTargets loading={state.phase === 'loading'} filtering={filtering} />}
      {entries.length > 0 && (
        <Box flexDirection={detail === 'beside' ? 'row' : 'column'}>
          <TargetTable entries={entries} selected={selected} width={listWidth} height={listHeight} />
          {selected && detail !== 'none' && (
            <TargetDetail entry={selected} width={detail === 'beside' ? columns - listWidth : columns} place={detail} />
          )}
        </Box>
      )}
    </Frame>
  );
}

interface TargetTableProps {
  entries: TargetEntry[];
  selected: TargetEntry | null;
  width: number;
  height: number;
}

function TargetTable({ entries, selected, width, height }: TargetTableProps) {
  const { glyphs } = useTheme();
  const inner = width - POINTER_WIDTH - 1;
  const layout = useMemo(() => layOutTable(targetColumns(glyphs), entries, inner), [glyphs, entries, inner]);
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Line spans={[{ text: ' '.repeat(POINTER_WIDTH) }, ...tableHead(layout, glyphs.ellipsis)]} width={width} />
      <List
        items={entries}
        keyOf={({ row }) => row.name}
        row={(entry) => tableRow(layout, entry, glyphs.ellipsis)}
        selected={selected ? entries.indexOf(selected) : -1}
        width={width}
        height={Math.max(1, height - 1)}
      />
    </Box>
  );
}

interface TargetDetailProps {
  entry: TargetEntry;
  width: number;
  place: 'beside' | 'below';
}

function TargetDetail({ entry, width, place }: TargetDetailProps) {
  const { glyphs } = useTheme();
  const { row } = entry;
  const title: Span[] = [
    { text: row.name, tone: 'strong' },
    { text: row.title === row.name ? '' : `  ${row.title}`, tone: 'dim' },
  ];
  return (
    <Box
      flexDirection="column"
      width={width}
      paddingLeft={POINTER_WIDTH}
      height={place === 'below' ? DETAIL_ROWS + 1 : undefined}
    >
      {place === 'below' && (
        <Line spans={[{ text: glyphs.rule.repeat(width - POINTER_WIDTH * 2), tone: 'dim' }]} width={width} />
      )}
      <Line spans={title} width={width - POINTER_WIDTH} />
      <Facts facts={targetFacts(entry)} width={width - POINTER_WIDTH - 1} />
    </Box>
  );
}

function NoTargets({ loading, filtering }: { loading: boolean; filtering: boolean }) {
  if (filtering) return <Empty lines={['Nothing matches the filter.', 'Esc shows all targets again.']} />;
  if (loading) return <Empty lines={['Reading the configuration…']} />;
  return (
    <Empty
      lines={[
        'The configuration has no targets yet.',
        'Add one under "targets:" in tool.yml, then press r. tool.example.yml shows every key.',
      ]}
    />
  );
}

function countOf(shown: number, all: number): Span[] {
  return [{ text: shown === all ? formatNumberOf(all, 'target') : `${shown} of ${all} targets`, tone: 'dim' }];
}
