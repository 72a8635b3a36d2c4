import { useMemo } from 'react';
import type { Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import type { Column } from '../../src/presentation/shapes/column.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import type { SnapshotTable } from '../../src/results/results.ts';
import { toggled } from '../../src/state/list.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../src/text/format.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
import { FILTER, FILTERED } from '../app/lists/filter.ts';
import { selectedItem } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING, noMatchLines } from '../app/text.ts';
import { BACK_TO } from '../commands/points.ts';
import { openRows } from '../commands/rows.ts';
import { UNDO } from '../commands/undo.ts';
import { LOAD_MARKED } from './load-marked.ts';
import { type TablesRoute, tablesInView } from './tables-route.ts';

export const tablesScreen: ScreenModule<TablesRoute> = {
  id: 'tables',
  title: 'Tables of a snapshot',
  view: TablesView,
  keys: [
    {
      id: 'mark',
      keys: ['space', 'm'],
      label: 'mark',
      help: 'mark the table for a load',
      palette: 'Mark table',
      run: ({ navigation }, route) => {
        const row = selectedItem(tablesInView(route), ({ table }) => table, route.list);
        if (row) navigation.replace({ ...route, marked: toggled(route.marked, row.table) });
      },
    },
    LOAD_MARKED,
    {
      keys: ['enter', 'right'],
      label: 'rows',
      help: 'show the first rows of the table, from the snapshot',
      run: (model, route) => {
        const row = selectedItem(tablesInView(route), ({ table }) => table, route.list);
        if (row) openRows(model, { target: route.target, snapshot: route.snapshot, table: row.table });
      },
      palette: false,
    },
    ...FILTER,
    UNDO,
    BACK_TO,
    BACK,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, route) => ({ ids: tablesInView(route).map(({ table }) => table) }),
  selected: (_, { snapshot }) => ({ snapshot }),
  ...FILTERED,
};

function TablesView({ route }: { route: TablesRoute }) {
  const { glyphs } = useTheme();
  const { target, snapshot, found, list, typing, marked } = route;
  const columns = useMemo(
    () => tablesColumns({ tables: found ?? [], excluded: snapshot.excluded_rows?.tables ?? [], marked, glyphs }),
    [found, snapshot, marked, glyphs],
  );
  const tables = tablesInView(route);
  const filtering = typing !== null || list.filter !== '';
  return (
    <ListFrame
      route={route}
      path={[target, briefName(snapshot)]}
      aside={[...markedWords(marked.length), countOf(tables.length, snapshot.tables, filtering)]}
      columns={columns}
      rows={tables}
      empty={found === null ? LOADING.tables : found.length === 0 ? EMPTY.tables : noMatchLines('tables')}
      filtered
    />
  );
}

function countOf(shown: number, all: number, filtering: boolean): Span {
  const tables = formatNumberOf(all, 'table');
  return { text: filtering ? `${shown} of ${tables}` : tables, tone: 'dim' };
}

function markedWords(count: number): Span[] {
  return count === 0 ? [] : [{ text: `${count} marked  `, tone: 'accent' }];
}

const BAR_WIDTH = 24;
/** The names need the room before the bars do. */
const NAME_WIDTH = 40;

interface TableColumns {
  tables: SnapshotTable[];
  /** Names of tables whose rows were not read. */
  excluded: string[];
  marked: string[];
  glyphs: Glyphs;
}

export function tablesColumns({ tables, excluded, marked, glyphs }: TableColumns): Column<SnapshotTable>[] {
  const withoutRows = new Set(excluded);
  const largest = Math.max(1, tables[0]?.bytes ?? 0);
  const bar = (bytes: number): string => glyphs.barFull.repeat(Math.ceil((bytes / largest) * BAR_WIDTH));
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
