import type { Column } from '../../components/table.ts';
import type { Glyphs } from '../../components/theme.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { formatAge, formatBytes, formatCount } from '../../src/text/format.ts';

const PLACES: Record<string, string> = { local: 'here', remote: 'bucket', 'local,remote': 'here, bucket' };

export function snapshotColumns({
  glyphs,
  now,
  marked,
}: {
  glyphs: Glyphs;
  now: number;
  marked: string[];
}): Column<SnapshotRow>[] {
  return [
    {
      title: '#',
      align: 'right',
      cell: ({ index, id }) =>
        marked.includes(id) ? { text: `${glyphs.marked} ${index}`, tone: 'accent' } : { text: String(index) },
    },
    { title: 'TAKEN', cell: ({ created_at }) => ({ text: formatAge(now - Date.parse(created_at)) }) },
    { title: 'SIZE', align: 'right', cell: ({ size_bytes }) => ({ text: formatBytes(size_bytes) }) },
    {
      title: 'ADDED',
      align: 'right',
      dropRank: 1,
      cell: ({ stored_bytes }) => ({ text: formatBytes(stored_bytes), tone: 'dim' }),
    },
    { title: 'TABLES', align: 'right', dropRank: 3, cell: ({ tables }) => ({ text: formatCount(tables) }) },
    { title: 'ROWS', align: 'right', dropRank: 2, cell: ({ rows }) => ({ text: formatCount(rows) }) },
    { title: 'WHERE', dropRank: 4, cell: ({ where }) => ({ text: PLACES[where.join()] ?? '', tone: 'dim' }) },
    {
      title: 'SANITIZED',
      dropRank: 4,
      cell: ({ sanitized }) =>
        sanitized ? { text: `${glyphs.good} yes`, tone: 'good' } : { text: glyphs.none, tone: 'dim' },
    },
    { title: 'NOTE', grows: true, dropRank: 5, cell: ({ note }) => ({ text: note ?? '' }) },
  ];
}
