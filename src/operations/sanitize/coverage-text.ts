import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import type { Coverage, TableCoverage, UnsanitizedColumn } from '../../results/review/sanitize-results.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { formatCount, formatNumberOf, formatPartOf } from '../../text/format.ts';
import { escaped } from '../../text/printable.ts';

/** `all 28 personal columns changed`, or `2 of 28 personal columns are unchanged` */
export function findingsText(coverage: Coverage): string {
  const { findings } = coverage;
  const own = findings.filter(({ state }) => state !== 'leaked');
  const personal = personalText(own, coverage);
  const others = findings.length - own.length;
  return others === 0
    ? personal
    : `${personal}, ${formatNumberOf(others, 'other column holds', 'other columns hold')} original values`;
}

/** `all 28 personal columns changed`, of columns without those where other original values were found. */
export function personalText(
  own: Coverage['findings'],
  { acknowledged, changed }: Pick<Coverage, 'acknowledged' | 'changed'>,
): string {
  const all = own.length + acknowledged.length + changed.length;
  if (all === 0) return 'no column looks like personal data';
  const of = (part: number): string => formatPartOf(part, all, 'personal column');
  if (own.length > 0) {
    const partly = own.some(({ state }) => state === 'partly') ? ' or partly unchanged' : '';
    return `${of(own.length)} ${all === 1 ? 'is' : 'are'} unchanged${partly}`;
  }
  const kept = acknowledged.length;
  if (kept > 0) return `${of(changed.length)} changed, ${formatCount(kept)} kept by a comment`;
  return all === 1 ? `${of(1)} changed` : `all ${formatNumberOf(all, 'personal column')} changed`;
}

/** `changed indirectly (trigger, cascade or function): public.history`; `null` for none. */
export function indirectText(tables: TableCoverage[]): string | null {
  const names = tables.filter(({ indirect }) => indirect).map(({ name }) => name);
  return names.length === 0
    ? null
    : `changed indirectly (trigger, cascade or function): ${boundedList(names, SHOWN_NAMES)}`;
}

/** `common words of personal columns are also in: public.country.name`; `null` for none. */
export function commonText(common: Coverage['common']): string | null {
  const names = common.map(({ column }) => column);
  return names.length === 0 ? null : `common words of personal columns are also in: ${boundedList(names, SHOWN_NAMES)}`;
}

const SHOWN_NAMES = 5;

/** `tables: 3 changed, 22 untouched` */
export function tablesText(tables: TableCoverage[]): string {
  const counts = Map.groupBy(tables, ({ state }) => state);
  return `tables: ${[...counts].map(([state, of]) => `${of.length} ${state}`).join(', ')}`;
}

/** A column that looks like personal data, and its state after the query. */
export interface CoverageRow {
  column: string;
  meaning: string;
  state: 'unchanged' | 'partly' | 'leaked' | 'kept' | 'changed';
  /** Values that are not null; `null` where unknown. */
  values: number | null;
  /** Masked. */
  before: string[];
  after: string[];
  remark: string | null;
}

/** Findings first. */
export function coverageRows(coverage: Coverage | undefined): CoverageRow[] {
  const { findings, acknowledged, changed } = coverage ?? { findings: [], acknowledged: [], changed: [] };
  return [
    ...findings.map((finding): CoverageRow => {
      const { column, meaning, state, values, samples, samples_after, generated } = finding;
      const remark = generated ? 'generated from other columns: change those' : originsText(finding);
      return { column, meaning, state, values, before: samples, after: samples_after, remark };
    }),
    ...acknowledged.map(({ column, kind, reason }): CoverageRow => {
      const meaning = kind.replaceAll('_', ' ');
      return { column, meaning, state: 'kept', values: null, before: [], after: [], remark: escaped(reason) };
    }),
    ...changed.map(({ column, meaning, samples, samples_after }): CoverageRow => {
      return { column, meaning, state: 'changed', values: null, before: samples, after: samples_after, remark: null };
    }),
  ];
}

function originsText({ state, original_values, from, values }: UnsanitizedColumn): string | null {
  if (state === 'unchanged' || original_values === null) return null;
  return `${formatPartOf(original_values, values, 'value')}, from ${from.join(', ')}`;
}

const LOOKS: Record<CoverageRow['state'], { tone: Tone; glyph: 'bad' | 'caution' | 'skipped' | 'good'; text: string }> =
  {
    unchanged: { tone: 'bad', glyph: 'bad', text: 'original values are unchanged' },
    partly: { tone: 'caution', glyph: 'caution', text: 'some original values are unchanged' },
    leaked: { tone: 'bad', glyph: 'bad', text: 'holds original values of other columns' },
    kept: { tone: 'dim', glyph: 'skipped', text: 'kept by a comment in the query' },
    changed: { tone: 'good', glyph: 'good', text: 'changed by the query' },
  };

export function coverageColumns({ glyphs }: { glyphs: Glyphs }): Column<CoverageRow>[] {
  const samples = (values: string[]): string => (values.length === 0 ? glyphs.none : values.join('  '));
  return [
    {
      title: 'COLUMN',
      cell: ({ column, state }) => ({ text: `${glyphs[LOOKS[state].glyph]} ${column}`, tone: LOOKS[state].tone }),
    },
    { title: 'STATE', cell: ({ state }) => ({ text: state, tone: LOOKS[state].tone }) },
    {
      title: 'VALUES',
      align: 'right',
      dropRank: 4,
      cell: ({ values }) => ({ text: values === null ? glyphs.none : formatCount(values) }),
    },
    { title: 'LOOKS LIKE', dropRank: 3, max: 24, cell: ({ meaning }) => ({ text: meaning }) },
    { title: 'BEFORE', dropRank: 2, max: 28, cell: ({ before }) => ({ text: samples(before) }) },
    { title: 'AFTER', grows: true, dropRank: 1, cell: ({ after }) => ({ text: samples(after) }) },
  ];
}

function coverageFacts(row: CoverageRow, tables: TableCoverage[]): Fact[] {
  const { column, meaning, state, before, after, remark } = row;
  const table = tables.find(({ name }) => column.startsWith(`${name}.`));
  const rows = (count: number | null) => (count === null ? 'no' : formatCount(count));
  return [
    { name: 'Looks like', value: meaning },
    { name: 'State', value: [LOOKS[state].text, ...(remark === null ? [] : [remark])].join(': ') },
    { name: 'Before', value: before.join('  ') || 'no samples' },
    { name: 'After', value: after.join('  ') || 'no values' },
    ...(table
      ? [{ name: 'Table', value: `${table.state}, ${rows(table.rows_before)} → ${rows(table.rows_after)} rows` }]
      : []),
  ];
}

/** The tables of the database, and what the query did to them. */
export function coveredTableColumns({ none }: Glyphs): Column<TableCoverage>[] {
  const rows = (count: number | null) => ({ text: count === null ? none : formatCount(count) });
  return [
    { title: 'TABLE', cell: ({ name }) => ({ text: name }) },
    {
      title: 'CONTENT',
      cell: ({ state }) => ({ text: state, tone: state === 'untouched' ? 'dim' : 'plain' }),
    },
    { title: 'ROWS BEFORE', align: 'right', cell: ({ rows_before }) => rows(rows_before) },
    { title: 'AFTER', align: 'right', cell: ({ rows_after }) => rows(rows_after) },
  ];
}

/** Why no query of a snapshot can be opened. */
export const QUERY_ABSENT = {
  original: 'It is not sanitized',
  elsewhere: 'It was sanitized on another machine, which has its query',
};

/** The file of the query was open in an editor. */
export function queryEditedText(file: string): string {
  return `${file}: press ${keyText('sanitize')} to sanitize again`;
}

/** A table with personal columns, followed by them. */
export type CoverageTreeRow =
  | { id: string; table: string; safe: number; all: number; rows: TableCoverage | null }
  | { id: string; table: null; row: CoverageRow };

/** Tables with findings first, the most findings on top. */
export function coverageTree(coverage: Coverage | undefined): CoverageTreeRow[] {
  const byTable = Map.groupBy(coverageRows(coverage), ({ column }) => tableOfColumn(column, coverage?.tables ?? []));
  const tables = [...byTable].map(([table, rows]) => ({ table, rows, left: rows.filter(isLeft).length }));
  return tables
    .toSorted((a, b) => b.left - a.left || (a.table < b.table ? -1 : 1))
    .flatMap(({ table, rows, left }): CoverageTreeRow[] => [
      {
        id: `table ${table}`,
        table,
        safe: rows.length - left,
        all: rows.length,
        rows: coverage?.tables.find(({ name }) => name === table) ?? null,
      },
      ...rows.map((row) => ({ id: row.column, table: null, row })),
    ]);
}

function isLeft({ state }: CoverageRow): boolean {
  return state === 'unchanged' || state === 'partly' || state === 'leaked';
}

/** The longest name: `a.b` may be a table, and the beginning of `a.b.c`. */
function tableOfColumn(column: string, tables: TableCoverage[]): string {
  const names = tables.map(({ name }) => name).filter((name) => column.startsWith(`${name}.`));
  return names.toSorted((a, b) => b.length - a.length)[0] ?? column.slice(0, column.lastIndexOf('.'));
}

const BAR = 10;

/** `████████░░ 8/10`: the personal columns that do not hold their original values. */
function coverageBar({ safe, all }: { safe: number; all: number }, glyphs: Glyphs): string {
  const full = all === 0 ? BAR : Math.floor((safe / all) * BAR);
  return `${glyphs.barFull.repeat(full)}${glyphs.barEmpty.repeat(BAR - full)} ${safe}/${all}`;
}

export function coverageTreeColumns({ glyphs }: { glyphs: Glyphs }): Column<CoverageTreeRow>[] {
  const [name, ...others] = coverageColumns({ glyphs });
  return [
    {
      title: 'TABLE AND COLUMN',
      cell: (row) => {
        if (row.table !== null) return { text: row.table, tone: 'strong' };
        const { text = '', tone = 'plain' } = name?.cell(row.row) ?? {};
        return { text: `  ${text.replace(row.row.column, () => lastName(row.row.column))}`, tone };
      },
    },
    {
      title: 'STATE',
      cell: (row) =>
        row.table === null
          ? { text: row.row.state, tone: LOOKS[row.row.state].tone }
          : { text: coverageBar(row, glyphs), tone: row.safe === row.all ? 'good' : 'bad' },
      whole: true,
    },
    ...others
      .filter(({ title }) => title !== 'STATE')
      .map(
        ({ brief: _, cell, ...column }): Column<CoverageTreeRow> => ({
          ...column,
          cell: (row) => (row.table === null ? cell(row.row) : { text: '' }),
        }),
      ),
  ];
}

function lastName(column: string): string {
  return column.slice(column.lastIndexOf('.') + 1);
}

export function coverageTreeFacts(row: CoverageTreeRow, tables: TableCoverage[]): Fact[] {
  if (row.table === null) return coverageFacts(row.row, tables);
  const count = (rows: number | null | undefined): string => (typeof rows === 'number' ? formatCount(rows) : 'no');
  return [
    { name: 'Personal', value: `${formatPartOf(row.safe, row.all, 'personal column')} changed or kept` },
    ...(row.rows
      ? [
          {
            name: 'Content',
            value: `${row.rows.state}, ${count(row.rows.rows_before)} → ${count(row.rows.rows_after)} rows`,
          },
        ]
      : []),
  ];
}
