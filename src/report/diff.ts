import type { DiffResult, SnapshotRow, TableChange, TableSide } from '../results/results.ts';
import { formatBytes, formatCount, formatNumberOf } from '../text/format.ts';
import type { Tone } from './style.ts';
import { type Column, formatTable, type TableOptions } from './table.ts';

/** What changed, table by table, and how much did not. */
export function diffText({ from, to, destination, changes, unchanged }: DiffResult, options: TableOptions): string {
  const sides = `${nameOf(from)} and ${to ? nameOf(to) : destination}`;
  const rest = `${formatNumberOf(unchanged, 'table')} unchanged`;
  if (changes.length === 0) return `No table differs between ${sides}: ${rest}`;
  const by = to ? '' : ', by rows';
  const title = `${formatNumberOf(changes.length, 'table')} changed between ${sides}${by}; ${rest}`;
  return [title, '', formatTable(columns(to !== null), changes, options)].join('\n');
}

const TONES: Record<TableChange['change'], Tone> = { added: 'good', gone: 'bad', changed: 'caution' };

function columns(withBytes: boolean): Column<TableChange>[] {
  const bytes: Column<TableChange>[] = [
    {
      title: 'SIZE',
      cell: ({ to }) => (to?.bytes === undefined || to.bytes === null ? '' : formatBytes(to.bytes)),
      align: 'right',
    },
    { title: 'DIFFERENCE', cell: ({ from, to }) => difference(from?.bytes, to?.bytes, formatBytes), align: 'right' },
  ];
  return [
    { title: 'TABLE', cell: ({ table }) => table },
    { title: 'CHANGE', cell: ({ change }) => change, tone: ({ change }) => TONES[change] },
    { title: 'ROWS', cell: ({ to }) => rowsOf(to), align: 'right' },
    { title: 'DIFFERENCE', cell: ({ from, to }) => difference(from?.rows, to?.rows, formatCount), align: 'right' },
    ...(withBytes ? bytes : []),
  ];
}

function rowsOf(side: TableSide | null): string {
  return side ? formatCount(side.rows) : '';
}

function difference(
  before: number | null | undefined,
  after: number | null | undefined,
  format: (n: number) => string,
) {
  const change = (after ?? 0) - (before ?? 0);
  if (change === 0) return 'none';
  return `${change > 0 ? '+' : '-'}${format(Math.abs(change))}`;
}

function nameOf({ index, id }: SnapshotRow): string {
  return `snapshot ${index} (${id})`;
}
