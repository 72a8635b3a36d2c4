import type { Column } from '../../presentation/shapes/column.ts';
import type { Tone } from '../../presentation/shapes/glyphs.ts';
import { briefName } from '../../presentation/snapshot.ts';
import type { ChangedTable, ChangesResult } from '../../results/review/changes-results.ts';
import { formatCount, formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { diffLines, NOT_COMPARED, sampleLines, type ToneLine } from '../snapshots/diff/table-diff-text.ts';

/** `3 tables changed in shop_dev since the last load of snapshot 8c41f2ab RAW; 57 unchanged` */
export function changesTitle(result: ChangesResult): string {
  const { destination, tables, unchanged } = result;
  const changed = tables.length === 0 ? 'No rows changed' : `Rows of ${formatNumberOf(tables.length, 'table')} changed`;
  return `${changed} in ${destination} since ${sinceText(result)}; ${formatNumberOf(unchanged, 'table')} unchanged`;
}

export function sinceText({ branch, since: { kind, name, snapshot } }: ChangesResult): string {
  const what = name === undefined ? `snapshot ${briefName(snapshot)}` : `save ${name}`;
  if (kind !== 'load') return what;
  return branch === undefined ? `the last load, of ${what}` : `the branch was made or reset, of ${what}`;
}

const TONES: Record<ChangedTable['change'], Tone> = { added: 'good', gone: 'bad', changed: 'plain' };

export function changesColumns(): Column<ChangedTable>[] {
  const count = (title: string, tone: Tone, of: (table: ChangedTable) => number | null): Column<ChangedTable> => ({
    ...{ title, align: 'right', whole: true },
    cell: (table) => ({ text: textOf(of(table)), tone: of(table) === 0 ? 'dim' : tone }),
  });
  return [
    { title: 'TABLE', grows: true, least: 16, essential: true, cell: ({ table }) => ({ text: table }) },
    count('ADDED', 'good', ({ added }) => added),
    count('CHANGED', 'caution', ({ changed }) => changed),
    count('REMOVED', 'bad', ({ removed }) => removed),
    {
      title: 'NOTE',
      dropRank: 1,
      cell({ change, not_compared }) {
        if (change !== 'changed') return { text: change === 'added' ? 'new table' : 'dropped', tone: TONES[change] };
        return { text: not_compared === undefined ? '' : NOT_COMPARED[not_compared], tone: 'caution' };
      },
    },
  ];
}

function textOf(count: number | null): string {
  return count === null ? '' : formatCount(count);
}

/** After the list of tables: definitions, sequences, large objects, then the rows that were asked for. */
export function changesLines(
  { tables, definitions, sequences, large_objects, sql }: ChangesResult,
  how: string,
): ToneLine[] {
  const paragraphs: ToneLine[][] = [
    ...definitions.map(({ name, change, diff }): ToneLine[] => [
      { text: `${printable(name)}: ${change}`, tone: 'strong' },
      ...diffLines(diff),
    ]),
    sequences.map(({ name, from, to }) => ({
      text: printable(`${name}: ${from ?? 'none'} → ${to ?? 'none'}`),
      tone: 'plain',
    })),
    ...(large_objects > 0 ? [plain(`${formatNumberOf(large_objects, 'large object')} changed`)] : []),
    ...tables.flatMap(({ table, rows }): ToneLine[][] =>
      rows ? [[{ text: printable(table), tone: 'strong' }, ...sampleLines(rows, how)]] : [],
    ),
    ...(sql ? [plain(printable(`Wrote ${formatNumberOf(sql.statements, 'statement')} to ${sql.file}`))] : []),
  ];
  return paragraphs.filter((lines) => lines.length > 0).flatMap((lines) => [{ text: '', tone: 'plain' }, ...lines]);
}

function plain(text: string): ToneLine[] {
  return [{ text, tone: 'plain' }];
}
