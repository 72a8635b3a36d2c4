import { keyText } from '../../../config/keys/keys-in-effect.ts';
import type { Cell, Column } from '../../../presentation/shapes/column.ts';
import type { RowColumn, RowsResult } from '../../../results/review/rows-results.ts';
import { formatCount, formatNumberOf, formatPartOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import { cut } from '../../../text/text-width.ts';

/** Names the flag that shows masked values. */
export const REVEAL_FLAG = 'Show them with: --reveal';
export function revealByKey(): string {
  return `Press ${keyText('reveal')} to reveal it`;
}

/** `First 50 of 1,200 rows of public.customer; 2 columns look like personal data and are masked. …` */
export function rowsTitle(result: RowsResult, how: string): string {
  const count = maskedCount(result);
  const looks = count === 1 ? 'looks like personal data and is' : 'look like personal data and are';
  const masked = count === 0 ? '' : `; ${formatNumberOf(count, 'column')} ${looks} masked. ${how}`;
  return printable(`${countText(result)} of ${result.table}${masked}`);
}

/** `Rows 1–500 of 12,034, next page below; 2 personal columns masked, z reveals` */
export function rowsLine(result: RowsResult): string {
  const count = maskedCount(result);
  const masked =
    count === 0 ? '' : `; ${formatNumberOf(count, 'personal column')} masked, ${keyText('reveal')} reveals`;
  return `${pageText(result)}${masked}`;
}

function pageText({ rows, skipped = 0, total }: RowsResult): string {
  const last = skipped + rows.length;
  if (skipped === 0 && last >= total) return formatNumberOf(total, 'row');
  const next = last < total ? ', next page below' : '';
  return `Rows ${formatCount(skipped + 1)}–${formatCount(last)} of ${formatCount(total)}${next}`;
}

function countText({ rows, total }: RowsResult): string {
  return rows.length < total ? `First ${formatPartOf(rows.length, total, 'row')}` : formatNumberOf(total, 'row');
}

function maskedCount({ columns }: RowsResult): number {
  return columns.filter(({ masked }) => masked).length;
}

/** `12 columns`; once they are scrolled, `from column 3 of 12` without those of the key. */
export function rowsAside({ columns, key = [] }: RowsResult, scrolled: number): string {
  return scrolled === 0
    ? formatNumberOf(columns.length, 'column')
    : `from column ${formatCount(key.length + scrolled + 1)} of ${formatCount(columns.length)}`;
}

/** States the number of columns that do not fit into the terminal. */
export function hiddenColumnsText(count: number): string {
  return `${formatNumberOf(count, 'column')} more ${count === 1 ? 'does' : 'do'} not fit: use --json, or a pipe`;
}

const WIDEST = 40;

/** NULL differs from every text by its tone, an empty text from both. */
export function valueCell(value: string | null | undefined, { masked = false } = {}): Cell {
  if (value === null || value === undefined) return { text: 'NULL', tone: 'dim' };
  if (value === '') return { text: "''", tone: 'dim' };
  // The word NULL as a value.
  const text = value === 'NULL' ? "'NULL'" : cut(value, WIDEST);
  return masked ? { text, tone: 'dim' } : { text };
}

/** One column of the list for each of the table. */
export function rowColumns(columns: RowColumn[]): Column<(string | null)[]>[] {
  return columns.map(({ name, masked }, index) => ({
    title: cut(name, WIDEST),
    dropRank: index,
    cell: (row) => valueCell(row[index], { masked }),
  }));
}
