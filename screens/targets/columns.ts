import type { Column } from '../../components/table.ts';
import type { Glyphs, Tone } from '../../components/theme.ts';
import { formatBytes } from '../../src/amounts.ts';
import type { TargetStatus } from '../../src/results.ts';
import type { TargetEntry } from '../../src/state/targets.ts';

/** The columns of the list of targets. */
export function targetColumns(glyphs: Glyphs, entries: TargetEntry[]): Column<TargetEntry>[] {
  const types = new Set(entries.map(({ row }) => row.type));
  // Where all are of one type, it tells nothing.
  const type: Column<TargetEntry>[] =
    types.size > 1 ? [{ title: 'TYPE', dropRank: 2, cell: ({ row }) => ({ text: row.type, tone: 'dim' }) }] : [];
  return [
    { title: 'TARGET', cell: ({ row }) => ({ text: row.name }), max: 28 },
    ...type,
    { title: 'STATUS', cell: (entry) => statusCell(entry, glyphs) },
    {
      title: 'LATENCY',
      align: 'right',
      dropRank: 3,
      cell: ({ row }) => known(row.latency_ms, (latency) => `${Math.round(latency)} ms`, glyphs),
    },
    { title: 'SIZE', align: 'right', dropRank: 1, cell: ({ row }) => known(row.size_bytes, formatBytes, glyphs) },
    {
      title: 'SNAPSHOTS',
      align: 'right',
      cell: ({ row }) => ({ text: String(row.snapshots), tone: row.snapshots === 0 ? 'dim' : 'plain' }),
    },
    {
      title: 'SOURCE',
      grows: true,
      dropRank: 4,
      cell: ({ row }) => ({ text: row.src_url === null ? glyphs.none : placeOf(row.src_url), tone: 'dim' }),
    },
  ];
}

/** Host, port and database: a row has little room, and the pane of the target shows the whole URL. */
function placeOf(url: string): string {
  return url.replace(/^\w+:\/\/([^@/]*@)?/, '');
}

interface StatusLook {
  word: string;
  tone: Tone;
  glyph: 'good' | 'bad' | 'caution' | 'pending';
}

/** How each status reads. */
export const STATUS_LOOKS: Record<TargetStatus, StatusLook> = {
  ok: { word: 'up', tone: 'good', glyph: 'good' },
  missing: { word: 'no database', tone: 'caution', glyph: 'caution' },
  denied: { word: 'denied', tone: 'bad', glyph: 'bad' },
  unreachable: { word: 'unreachable', tone: 'bad', glyph: 'bad' },
  unchecked: { word: 'not checked', tone: 'dim', glyph: 'pending' },
};

/** A server slower than this is told apart. */
const SLOW_MS = 250;

function statusCell({ row, checking, checkedAt }: TargetEntry, glyphs: Glyphs) {
  if (checking && checkedAt === null) return { text: `${glyphs.pending} checking`, tone: 'dim' as const };
  const { word, tone, glyph } = STATUS_LOOKS[row.status];
  const slow = row.status === 'ok' && (row.latency_ms ?? 0) > SLOW_MS;
  // The mark of a check has its cell in every row, so that no column moves when checks begin and end.
  const text = `${glyphs[glyph]} ${slow ? 'slow' : word}${checking ? glyphs.ellipsis : ' '}`;
  return { text, tone: slow ? ('caution' as const) : tone };
}

function known(value: number | null, format: (value: number) => string, { none }: Glyphs) {
  return value === null ? { text: none, tone: 'dim' as const } : { text: format(value) };
}
