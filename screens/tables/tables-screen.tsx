import { useMemo } from 'react';
import type { Span } from '../../components/line.tsx';
import type { Column } from '../../components/table.ts';
import { TableList } from '../../components/table-list.tsx';
import { type Glyphs, useTheme } from '../../components/theme.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../src/amounts.ts';
import type { SnapshotTable } from '../../src/results.ts';
import { selectedIndex } from '../../src/state/list.ts';
import { Empty, Failure } from '../empty.tsx';
import { Frame, useRoom } from '../frame.tsx';
import type { TablesPlace } from '../place.ts';

/** The tables of a snapshot, the largest first. */
export function TablesScreen({ place }: { place: TablesPlace }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { target, snapshot, found, error, list, marked } = place;
  const tableColumns = useMemo(() => columnsOf({ tables: found ?? [], marked, glyphs }), [found, marked, glyphs]);
  const names = (found ?? []).map(({ table }) => table);
  return (
    <Frame
      screen="tables"
      path={[target, `snapshot ${snapshot.index}`]}
      aside={[...markedWords(marked.length), { text: formatNumberOf(snapshot.tables, 'table'), tone: 'dim' }]}
    >
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={['Reading what is in it…']} />}
      {found?.length === 0 && <Empty lines={['The snapshot has no tables.', 'Esc goes back.']} />}
      {found && found.length > 0 && (
        <TableList
          columns={tableColumns}
          rows={found}
          keyOf={({ table }) => table}
          selected={selectedIndex(names, list.selected)}
          width={columns}
          height={height}
        />
      )}
    </Frame>
  );
}

function markedWords(count: number): Span[] {
  return count === 0 ? [] : [{ text: `${count} marked  `, tone: 'accent' }];
}

const BAR_WIDTH = 24;

interface TableColumns {
  tables: SnapshotTable[];
  marked: string[];
  glyphs: Glyphs;
}

function columnsOf({ tables, marked, glyphs }: TableColumns): Column<SnapshotTable>[] {
  const largest = Math.max(1, tables[0]?.bytes ?? 0);
  return [
    {
      title: ' ',
      cell: ({ table }) => (marked.includes(table) ? { text: glyphs.marked, tone: 'accent' } : { text: '' }),
    },
    {
      title: 'TABLE',
      cell: ({ table }) => ({ text: table, tone: marked.includes(table) ? 'accent' : 'plain' }),
      grows: true,
    },
    { title: 'ROWS', align: 'right', cell: ({ rows }) => ({ text: formatCount(rows) }) },
    { title: 'SIZE', align: 'right', cell: ({ bytes }) => ({ text: formatBytes(bytes) }) },
    {
      title: '',
      dropRank: 1,
      cell: ({ bytes }) => ({ text: glyphs.barFull.repeat(Math.ceil((bytes / largest) * BAR_WIDTH)), tone: 'accent' }),
    },
  ];
}
