import type { Cell, Column } from '../../../presentation/shapes/column.ts';
import type { Glyphs, Tone } from '../../../presentation/shapes/glyphs.ts';
import { briefName } from '../../../presentation/snapshot.ts';
import type { SnapshotRow } from '../../../results/results.ts';
import type { DiffResult, TableChange, TableSide } from '../../../results/review/diff-results.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../../text/format.ts';

/** Names both sides, and the number of tables that differ. */
export function diffTitle({ from, to, destination, changes, unchanged }: DiffResult): string {
  const sides = `${nameOf(from)} and ${to ? nameOf(to) : destination}`;
  const rest = `${formatNumberOf(unchanged, 'table')} unchanged`;
  if (changes.length === 0) return `No table differs between ${sides}: ${rest}`;
  const by = to ? '' : ', by rows';
  return `${formatNumberOf(changes.length, 'table')} changed between ${sides}${by}; ${rest}`;
}

/** `3 tables changed, 22 unchanged` */
export function diffCount({ changes, unchanged }: DiffResult): string {
  return `${formatNumberOf(changes.length, 'table')} changed, ${unchanged} unchanged`;
}

/** `Migrations of snapshot 0 only (rails): 20260101, 20260102`, a line each. */
export function migrationLines({ from, to, destination, migrations = [] }: DiffResult): string[] {
  const other = to ? nameOf(to) : (destination ?? '');
  return migrations.flatMap(({ tool, only_from, only_to }) => [
    ...(only_from.length > 0 ? [`Migrations of ${nameOf(from)} only (${tool}): ${namesText(only_from)}`] : []),
    ...(only_to.length > 0 ? [`Migrations of ${other} only (${tool}): ${namesText(only_to)}`] : []),
  ]);
}

const MOST_NAMED = 10;

function namesText(names: string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(-MOST_NAMED).join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''}`;
}

/** `8c41f2ab RAW → 1b2c3d4e SAFE`, `8c41f2ab RAW → destination`: short, so that no id is cut at 80 columns. */
export function comparedText(older: SnapshotRow, newer: SnapshotRow | undefined): string {
  return `${briefName(older)} → ${newer ? briefName(newer) : 'destination'}`;
}

function nameOf(snapshot: SnapshotRow): string {
  return `snapshot ${snapshot.index} (${briefName(snapshot)})`;
}

const TONES: Record<TableChange['change'], Tone> = { added: 'good', gone: 'bad', changed: 'caution' };

export const NOT_LOCAL = 'Both sides must be local snapshots: pull them first';

const BAR_WIDTH = 16;

/** Returns a column of bars whose length is the growth or shrinkage of a table: by bytes, else by rows. */
function barsOf({ changes, to }: DiffResult, { barFull }: Pick<Glyphs, 'barFull'>): Column<TableChange>[] {
  if (barFull === '') return [];
  const amountOf = (side: TableSide | null): number => (side && to ? side.bytes : side?.rows) ?? 0;
  const growth = (change: TableChange): number => amountOf(change.to) - amountOf(change.from);
  const most = changes.reduce((largest, change) => Math.max(largest, Math.abs(growth(change))), 1);
  return [
    {
      title: '',
      dropRank: 4,
      cell(change) {
        const by = growth(change);
        const bar = barFull.repeat(Math.ceil((Math.abs(by) / most) * BAR_WIDTH));
        return by === 0 ? { text: '' } : { text: `${by > 0 ? '+' : '-'}${bar}`, tone: by > 0 ? 'good' : 'bad' };
      },
    },
  ];
}

/** The bytes of a live destination are not known. */
export function diffColumns(result: DiffResult, glyphs: Pick<Glyphs, 'barFull'>): Column<TableChange>[] {
  const bytes: Column<TableChange>[] = [
    {
      title: 'SIZE',
      align: 'right',
      dropRank: 2,
      cell: ({ to }) => ({ text: to && to.bytes !== null ? formatBytes(to.bytes) : '' }),
    },
    {
      title: 'DIFFERENCE',
      align: 'right',
      dropRank: 3,
      cell: ({ from, to }) => difference(from?.bytes, to?.bytes, formatBytes),
    },
  ];
  return [
    { title: 'TABLE', grows: true, least: 16, essential: true, cell: ({ table }) => ({ text: table }) },
    { title: 'CHANGE', cell: ({ change }) => ({ text: change === 'gone' ? 'removed' : change, tone: TONES[change] }) },
    { title: 'ROWS', align: 'right', dropRank: 1, cell: ({ to }) => ({ text: to ? formatCount(to.rows) : '' }) },
    { title: 'DIFFERENCE', align: 'right', cell: ({ from, to }) => difference(from?.rows, to?.rows, formatCount) },
    ...(result.to ? bytes : []),
    ...barsOf(result, glyphs),
  ];
}

function difference(before: number | null = 0, after: number | null = 0, format: (amount: number) => string): Cell {
  if (before === null || after === null) return { text: '' };
  const change = after - before;
  if (change === 0) return { text: 'none', tone: 'dim' };
  return { text: `${change > 0 ? '+' : '-'}${format(Math.abs(change))}` };
}
