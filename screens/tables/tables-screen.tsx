import { Box } from 'ink';
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { FilterLine } from '../../components/filter-line.tsx';
import type { Span } from '../../components/line.tsx';
import { ListView } from '../../components/list-view.tsx';
import { useTheme } from '../../components/theme.ts';
import type { Column } from '../../src/presentation/shapes/column.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import type { SnapshotTable } from '../../src/results/results.ts';
import { toggled } from '../../src/state/list.ts';
import { tablesOf } from '../../src/state/snapshots.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../src/text/format.ts';
import { useModel } from '../app/frame/frame.tsx';
import { PaneView } from '../app/frame/pane-view.tsx';
import { BACK, LIST_KEYS } from '../app/keys.ts';
import { FILTER, FILTERED, isFiltering } from '../app/lists/filter.ts';
import { positionIn, selectedItem } from '../app/lists/in-view.ts';
import { readTables } from '../app/lists/refresh.ts';
import type { PaneProps, ScreenModule } from '../app/model.ts';
import { leavePane, PANE_KEYS } from '../app/panes.ts';
import { EMPTY, LOADING, markedText, noMatchLines } from '../app/text.ts';
import { BACK_TO } from '../commands/points.ts';
import { UNDO } from '../commands/reset.ts';
import { openRows } from '../commands/rows.ts';
import { LOAD_MARKED } from './load-marked.ts';
import { type TablesRoute, tablesInView } from './tables-route.ts';

export const tablesScreen: ScreenModule<TablesRoute> = {
  title: 'Tables of a snapshot',
  view: PaneView,
  keys: [
    {
      id: 'mark',
      keys: ['space', 'm'],
      label: 'mark',
      help: 'mark the table for a load',
      palette: 'Mark table',
      run: (model, route) => {
        const row = selectedItem(tablesInView(model, route), ({ table }) => table, route.list);
        if (row) model.navigation.replace({ ...route, marked: toggled(route.marked, row.table) });
      },
    },
    LOAD_MARKED,
    {
      keys: ['enter', 'right'],
      label: 'rows',
      help: 'show the first rows of the table, from the snapshot',
      run: (model, route) => {
        const row = selectedItem(tablesInView(model, route), ({ table }) => table, route.list);
        if (row) openRows(model, { target: route.target, snapshot: route.snapshot, table: row.table });
      },
    },
    ...PANE_KEYS,
    ...FILTER,
    UNDO,
    BACK_TO,
    BACK,
    ...LIST_KEYS,
  ],
  rows: (model, route) => ({ ids: tablesInView(model, route).map(({ table }) => table) }),
  selected: (_, { snapshot }) => ({ snapshot }),
  onBack: leavePane,
  ...FILTERED,
  pane: {
    view: TablesPane,
    path: ({ target, snapshot }) => [target, briefName(snapshot)],
    name: ({ snapshot }) => `tables of ${snapshot.id}`,
    aside: (model, route, { brief }) => [
      ...markedText(route.marked.length),
      countOf(tablesInView(model, route).length, route, brief),
    ],
    read: (model, { target, snapshot }, signal) => readTables(model, { target, snapshot: snapshot.id }, signal),
    readFor: ({ snapshots }, { target, snapshot }) => {
      const of = { target, snapshot: snapshot.id };
      return tablesOf(snapshots.getState(), of).found === null ? `${target}\n${snapshot.id}` : null;
    },
  },
};

function TablesPane({ route, width, height, isActive, alone }: PaneProps<TablesRoute>) {
  const model = useModel();
  const { glyphs } = useTheme();
  const { target, snapshot, list, typing, marked } = route;
  const of = { target, snapshot: snapshot.id };
  const { found, error } = useStore(model.snapshots, (state) => tablesOf(state, of));
  const isWide = alone || width >= WIDE_FROM;
  const columns = useMemo(
    () =>
      tablesColumns({ tables: found ?? [], excluded: snapshot.excluded_rows?.tables ?? [], marked, glyphs, isWide }),
    [found, snapshot, marked, glyphs, isWide],
  );
  const tables = tablesInView(model, route);
  const ids = tables.map(({ table }) => table);
  const filtering = isFiltering(route);
  return (
    <Box flexDirection="column" width={width}>
      {filtering && <FilterLine typing={typing} filter={list.filter} width={width} />}
      <ListView
        columns={columns}
        rows={tables}
        keyOf={({ table }) => table}
        selected={positionIn({ ids }, list.selected)}
        width={width}
        height={height - (filtering ? 1 : 0)}
        error={error}
        empty={found === null ? LOADING.tables : found.length === 0 ? EMPTY.tables : noMatchLines('tables')}
        isActive={isActive}
      />
    </Box>
  );
}

function countOf(shown: number, route: TablesRoute, brief: boolean): Span {
  const { tables: all } = route.snapshot;
  const tables = brief ? formatCount(all) : formatNumberOf(all, 'table');
  return { text: isFiltering(route) ? `${shown} of ${tables}` : tables, tone: 'dim' };
}

/** Cells of a pane with room for longer bars. */
const WIDE_FROM = 64;
/** Cells of the longest bar. */
const BAR_WIDTH = { wide: 24, narrow: 12 };
/** The names need the room before the bars do. */
const NAME_WIDTH = 40;

interface TableColumns {
  tables: SnapshotTable[];
  /** Names of tables whose rows were not read. */
  excluded: string[];
  marked: string[];
  glyphs: Glyphs;
  isWide?: boolean;
}

export function tablesColumns({
  tables,
  excluded,
  marked,
  glyphs,
  isWide = true,
}: TableColumns): Column<SnapshotTable>[] {
  const withoutRows = new Set(excluded);
  const largest = Math.max(1, tables[0]?.bytes ?? 0);
  const longest = BAR_WIDTH[isWide ? 'wide' : 'narrow'];
  const bar = (bytes: number): string => glyphs.barFull.repeat(Math.ceil((bytes / largest) * longest));
  return [
    {
      title: ' ',
      cell: ({ table }) => (marked.includes(table) ? { text: glyphs.marked, tone: 'accent' } : { text: '' }),
    },
    {
      title: 'TABLE',
      cell: ({ table }) => ({ text: table, tone: marked.includes(table) ? 'accent' : 'plain' }),
      grows: true,
      least: NAME_WIDTH,
    },
    {
      title: 'ROWS',
      align: 'right',
      whole: true,
      cell: ({ table, rows }) =>
        withoutRows.has(table) ? { text: 'excluded', tone: 'dim' } : { text: formatCount(rows) },
    },
    { title: 'SIZE', align: 'right', whole: true, cell: ({ bytes }) => ({ text: formatBytes(bytes) }) },
    { title: '', dropRank: 1, cell: ({ bytes }) => ({ text: bar(bytes), tone: 'accent' }) },
  ];
}
