import type { Cell, Column } from '../../components/table.ts';
import type { Glyphs, Tone } from '../../components/theme.ts';
import { briefReason } from '../../src/results/connection-failures.ts';
import type { TargetRow, TargetStatus } from '../../src/results/results.ts';
import type { TargetEntry } from '../../src/state/targets.ts';
import { formatAge, formatBytes, formatCount } from '../../src/text/format.ts';

/** Where room is short, columns that the detail pane repeats are dropped first. */
export function targetColumns(entries: TargetEntry[], { glyphs, now }: ColumnsOptions): Column<TargetEntry>[] {
  const storage: Column<TargetEntry> = {
    title: 'STORAGE',
    dropRank: 3,
    max: 20,
    cell: ({ row }) => known(row.storage_profile, (profile) => profile, glyphs),
  };
  return [
    { title: 'TARGET', cell: ({ row }) => ({ text: row.name }), max: 28 },
    { title: 'STATUS', cell: (entry) => statusCell(entry, glyphs) },
    { title: 'SIZE', align: 'right', dropRank: 1, cell: ({ row }) => known(row.size_bytes, formatBytes, glyphs) },
    {
      title: 'LATEST',
      cell: ({ row }) => known(row.last_snapshot_at, (at) => formatAge(now - Date.parse(at)), glyphs),
    },
    {
      title: 'SNAPSHOTS',
      align: 'right',
      dropRank: 2,
      cell: ({ row }) => ({ text: formatCount(row.snapshots), tone: row.snapshots === 0 ? 'dim' : 'plain' }),
    },
    // Only where some target has a bucket.
    ...(entries.some(({ row }) => row.storage_profile !== null) ? [storage] : []),
    {
      title: 'LATENCY',
      align: 'right',
      dropRank: 4,
      cell: ({ row }) => known(row.latency_ms, (latency) => `${Math.round(latency)} ms`, glyphs),
    },
    {
      title: 'SOURCE',
      grows: true,
      dropRank: 5,
      cell: ({ row }) => ({ text: row.src_url === null ? glyphs.none : placeOf(row.src_url), tone: 'dim' }),
    },
  ];
}

interface ColumnsOptions {
  glyphs: Glyphs;
  now: number;
}

/** Host, port and database. */
function placeOf(url: string): string {
  return url.replace(/^\w+:\/\/([^@/]*@)?/, '');
}

interface StatusLook {
  word: string;
  tone: Tone;
  glyph: 'good' | 'bad' | 'caution' | 'pending';
}

export const STATUS_LOOKS: Record<TargetStatus, StatusLook> = {
  ok: { word: 'up', tone: 'good', glyph: 'good' },
  missing: { word: 'no database', tone: 'caution', glyph: 'caution' },
  denied: { word: 'access denied', tone: 'bad', glyph: 'bad' },
  unreachable: { word: 'unreachable', tone: 'bad', glyph: 'bad' },
  unchecked: { word: 'not checked', tone: 'dim', glyph: 'pending' },
};

/** A server slower than this is shown as slow. */
const SLOW_MS = 250;

function statusWords({ status, error_code }: TargetRow): string {
  const { word } = STATUS_LOOKS[status];
  const reason = status === 'missing' ? null : briefReason(error_code);
  return reason === null ? word : `${word}: ${reason}`;
}

function statusCell({ row, checking, checkedAt }: TargetEntry, glyphs: Glyphs) {
  if (checking && checkedAt === null) return { text: `${glyphs.pending} checking`, tone: 'dim' as const };
  const { tone, glyph } = STATUS_LOOKS[row.status];
  const slow = row.status === 'ok' && (row.latency_ms ?? 0) > SLOW_MS;
  // Every row reserves a cell for the mark of a running check, so that columns do not move.
  const text = `${glyphs[glyph]} ${slow ? 'slow' : statusWords(row)}${checking ? glyphs.ellipsis : ' '}`;
  return { text, tone: slow ? ('caution' as const) : tone };
}

function known<Value>(value: Value | null, format: (value: Value) => string, { none }: Glyphs): Cell {
  return value === null ? { text: none, tone: 'dim' } : { text: format(value) };
}
