import type { Coverage, SanitizePlan, SanitizeResult, TableCoverage } from '../results/sanitize-results.ts';
import type { RunSummary } from '../state/runs.ts';
import { formatCount, formatDuration, formatNumberOf } from '../text/format.ts';
import type { Column } from './shapes/column.ts';
import type { Fact } from './shapes/fact.ts';
import type { Glyphs, Tone } from './shapes/glyphs.ts';
import {
  askToReplace,
  destinationFacts,
  type Question,
  replacement,
  serverFact,
  typedName,
  warningsOf,
} from './shapes/question.ts';
import { summaryOf } from './shapes/summary.ts';
import { briefName, contentsText, kindBadge, snapshotFact, snapshotName } from './snapshot.ts';

export function sanitizeQuestion(plan: SanitizePlan, now: Date): Question {
  const { target, snapshot, query, destination, where, strict, steps } = plan;
  const exists = destination?.exists === true;
  return {
    title: `Sanitize ${snapshot ? snapshotName(target, snapshot) : `a new snapshot of ${target}`}`,
    subject: {
      badge: kindBadge(false),
      text: `${snapshot?.id ?? 'new snapshot'} of ${target}${destination ? `, in ${destination.database} on ${destination.host}` : ''}`,
    },
    facts: [
      snapshot ? snapshotFact(snapshot, now) : { name: 'Snapshot', value: 'a new one' },
      ...queryFacts(query),
      ...(destination
        ? [...destinationFacts(destination), serverFact(destination)]
        : [{ name: 'Runs in', value: where }]),
      ...(strict ? [{ name: 'Strict', value: 'publish nothing while personal data is left' }] : []),
    ],
    steps,
    warnings: warningsOf(plan),
    consequence: consequenceOf(plan),
    ask: destination ? askToReplace(destination) : 'Sanitize?',
    go: exists ? `Sanitize, and replace ${destination.database}` : 'Sanitize',
    typed: exists ? typedName({ ...plan, destination }) : null,
  };
}

function queryFacts({ chosen_by, file, base64, statements }: SanitizePlan['query']): Fact[] {
  const count = formatNumberOf(statements.length, 'statement');
  const from = `${file === null ? '' : `${file}, `}${chosen_by}${base64 ? ' (base64)' : ''}`;
  return [
    { name: 'Query', value: `${count} from ${from}`, brief: `${file ?? chosen_by}, ${count}` },
    ...statements.map(({ number, line, text }) => ({
      name: '',
      value: `${number}. (line ${line}) ${oneLine(text)}`,
      brief: '',
    })),
  ];
}

const SHOWN = 100;

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

function consequenceOf({ destination, undo }: SanitizePlan): string {
  if (!destination) return 'A temporary database is created and dropped. The original snapshot is not changed.';
  return `${replacement(destination, undo)} The original snapshot is not changed.`;
}

export function sanitizeTitle({ target, snapshot }: SanitizePlan): string {
  return snapshot ? `Sanitize ${snapshotName(target, snapshot)}` : `Build and sanitize a snapshot of ${target}`;
}

export function sanitizeSummary(result: SanitizeResult, target: string): RunSummary {
  const { snapshot, original, destination, statements, coverage, swap_ms, undo_database } = result;
  const by = formatNumberOf(statements, 'statement');
  return summaryOf(`Sanitized ${snapshotName(target, original)} by ${by}: ${findingsText(coverage)}`, {
    caution: coverage.findings.length > 0,
    details: [
      `Sanitized snapshot ${briefName(snapshot)}: ${contentsText(snapshot)}`,
      ...(destination === null || swap_ms === null
        ? []
        : [`${destination} holds the sanitized data; it was unavailable for ${formatDuration(swap_ms)}`]),
      ...(undo_database === null ? [] : [`The previous database is kept: ${undo_database}`]),
    ],
  });
}

/** `2 of 28 personal columns are unchanged` */
export function findingsText({ findings, acknowledged, changed }: Coverage): string {
  const all = findings.length + acknowledged.length + changed.length;
  if (all === 0) return 'no column looks like personal data';
  const partly = findings.some(({ state }) => state === 'partly') ? ' or partly unchanged' : '';
  return `${findings.length} of ${formatNumberOf(all, 'personal column')} ${all === 1 ? 'is' : 'are'} unchanged${partly}`;
}

/** `tables: 3 changed, 22 untouched` */
export function tablesText(tables: TableCoverage[]): string {
  const counts = Map.groupBy(tables, ({ state }) => state);
  return `tables: ${[...counts].map(([state, of]) => `${of.length} ${state}`).join(', ')}`;
}

/** A column that looks like personal data, and its state after the query. */
export interface CoverageRow {
  column: string;
  meaning: string;
  state: 'unchanged' | 'partly' | 'kept' | 'changed';
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
    ...findings.map(({ column, meaning, state, values, samples, samples_after, generated }): CoverageRow => {
      const remark = generated ? 'generated from other columns: change those' : null;
      return { column, meaning, state, values, before: samples, after: samples_after, remark };
    }),
    ...acknowledged.map(({ column, kind, reason }): CoverageRow => {
      const meaning = kind.replaceAll('_', ' ');
      return { column, meaning, state: 'kept', values: null, before: [], after: [], remark: reason };
    }),
    ...changed.map(({ column, meaning, samples, samples_after }): CoverageRow => {
      return { column, meaning, state: 'changed', values: null, before: samples, after: samples_after, remark: null };
    }),
  ];
}

const LOOKS: Record<CoverageRow['state'], { tone: Tone; glyph: 'bad' | 'caution' | 'none' | 'good'; text: string }> = {
  unchanged: { tone: 'bad', glyph: 'bad', text: 'original values are unchanged' },
  partly: { tone: 'caution', glyph: 'caution', text: 'some original values are unchanged' },
  kept: { tone: 'dim', glyph: 'none', text: 'kept by a comment in the query' },
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

export function coverageFacts(row: CoverageRow, tables: TableCoverage[]): Fact[] {
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

/** The file of the query was open in an editor. */
export function queryEditedText(file: string): string {
  return `${file}: press s to sanitize again`;
}
