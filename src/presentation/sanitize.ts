import { basename } from 'node:path';
import { keyText } from '../config/keys-in-effect.ts';
import type {
  Coverage,
  QuerySavePlan,
  SanitizeFinding,
  SanitizePlan,
  SanitizeResult,
  TableCoverage,
  TrialResult,
} from '../results/sanitize-results.ts';
import { type ColumnChoices, chosenSql, type SuggestedQuery } from '../results/suggested-query.ts';
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
import { summaryOf, unavailableFor } from './shapes/summary.ts';
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
    card: { title: `Snapshot ${briefName(snapshot)} created`, facts: [findingsText(coverage)] },
    details: [
      `Sanitized snapshot ${briefName(snapshot)}: ${contentsText(snapshot)}`,
      ...(destination === null ? [] : [`${destination} holds the sanitized data`]),
      ...(undo_database === null ? [] : [`The previous database is kept: ${undo_database}`]),
    ],
    ...unavailableFor('It', swap_ms),
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

const LOOKS: Record<CoverageRow['state'], { tone: Tone; glyph: 'bad' | 'caution' | 'skipped' | 'good'; text: string }> =
  {
    unchanged: { tone: 'bad', glyph: 'bad', text: 'original values are unchanged' },
    partly: { tone: 'caution', glyph: 'caution', text: 'some original values are unchanged' },
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
  return state === 'unchanged' || state === 'partly';
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
    { name: 'Personal', value: `${row.safe} of ${formatNumberOf(row.all, 'personal column')} changed or kept` },
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

/** A column of a suggested query in its checklist. */
export interface SuggestionRow {
  column: string;
  /** In SQL. */
  name: string;
  meaning: string;
  state: 'replace' | 'leave' | 'keep' | 'choose' | 'generated';
  /** SQL of the new value. */
  sql: string | null;
  /** Why the column keeps its values. */
  reason: string;
  values: TrialResult['columns'][number]['values'];
  error: string | null;
  partners: string[];
  /** Masked, from the search for personal data. */
  samples: string[];
}

interface SuggestionState {
  findings: SanitizeFinding[];
  query: SuggestedQuery;
  choices: ColumnChoices;
  trial: TrialResult | null;
}

export function suggestionRows({ findings, query, choices, trial }: SuggestionState): SuggestionRow[] {
  const tried = new Map(trial?.columns.map((each) => [each.column, each]));
  const samples = new Map(findings.map((finding) => [finding.column, finding.samples]));
  return query.tables.flatMap(({ columns }) =>
    columns.map((each): SuggestionRow => {
      const { column, name, meaning, generated, partners } = each;
      const choice = Object.hasOwn(choices, column) ? choices[column] : undefined;
      const sql = chosenSql(each, choices);
      const reason = choice?.action === 'leave' ? choice.reason : '';
      const left = choice?.action === 'leave' ? (reason === '' ? 'leave' : 'keep') : 'choose';
      const trialOf = sql === null ? undefined : tried.get(column);
      return {
        ...{ column, name, meaning, sql, reason, partners },
        state: generated ? 'generated' : sql === null ? left : 'replace',
        values: trialOf?.values ?? [],
        error: trialOf?.error ?? null,
        samples: samples.get(column) ?? [],
      };
    }),
  );
}

const CHOICE_LOOKS: Record<SuggestionRow['state'], { tone: Tone; glyph: keyof Glyphs; text: string }> = {
  replace: { tone: 'plain', glyph: 'marked', text: 'replaced' },
  leave: { tone: 'caution', glyph: 'pending', text: 'not replaced: it stays a finding' },
  keep: { tone: 'dim', glyph: 'pending', text: 'kept by a comment in the query' },
  choose: { tone: 'caution', glyph: 'pending', text: 'cannot be null: choose a value' },
  generated: { tone: 'dim', glyph: 'skipped', text: 'generated from other columns: change those' },
};

const SHOWN_VALUES = 3;

function shownValue(value: string | null): string {
  return value ?? 'NULL';
}

export function suggestionColumns({ glyphs }: { glyphs: Glyphs }): Column<SuggestionRow>[] {
  const listed = (values: string[]): string =>
    values.length === 0 ? glyphs.none : values.slice(0, SHOWN_VALUES).join('  ');
  return [
    {
      title: 'COLUMN',
      essential: true,
      cell: ({ column, state, error }) => {
        const { tone, glyph } = CHOICE_LOOKS[state];
        return error === null
          ? { text: `${glyphs[glyph]} ${column}`, tone }
          : { text: `${glyphs.bad} ${column}`, tone: 'bad' };
      },
    },
    { title: 'LOOKS LIKE', dropRank: 3, max: 24, cell: ({ meaning }) => ({ text: meaning }) },
    { title: 'NEW VALUE', dropRank: 4, max: 40, cell: ({ sql, state }) => ({ text: sql ?? state }) },
    {
      title: 'BEFORE',
      dropRank: 2,
      max: 24,
      cell: ({ values, samples }) => {
        const before = values.length > 0 ? values.map((each) => shownValue(each.before)) : samples;
        return { text: listed(before) };
      },
    },
    {
      title: 'AFTER',
      grows: true,
      dropRank: 1,
      cell: ({ values, error, sql }) => {
        if (error !== null) return { text: error, tone: 'bad' };
        if (sql === null) return { text: glyphs.none, tone: 'dim' };
        return { text: listed(values.map(({ after }) => shownValue(after))) };
      },
    },
  ];
}

export function suggestionFacts(row: SuggestionRow): Fact[] {
  const { state, sql, reason, values, error, partners, meaning, samples } = row;
  const shown = values.slice(0, SHOWN_VALUES);
  const before = shown.length > 0 ? shown.map((each) => shownValue(each.before)) : samples;
  return [
    { name: 'Looks like', value: meaning },
    sql === null
      ? { name: 'State', value: [CHOICE_LOOKS[state].text, ...(reason === '' ? [] : [reason])].join(': ') }
      : { name: 'New value', value: sql },
    ...(error === null ? [] : [{ name: 'Error', value: error }]),
    { name: 'Before', value: before.join('  ') || 'no values' },
    ...(error === null && sql !== null
      ? [{ name: 'After', value: shown.map(({ after }) => shownValue(after)).join('  ') || 'no values' }]
      : []),
    ...(partners.length > 0 ? [{ name: 'Foreign keys', value: `change alike: ${partners.join(', ')}` }] : []),
  ];
}

/** `11 of 12 columns replaced` */
export function suggestionText(rows: SuggestionRow[]): string {
  const replaced = rows.filter(({ state }) => state === 'replace').length;
  return `${replaced} of ${formatNumberOf(rows.length, 'column')} replaced`;
}

/** `12 replacements tried on 10 rows in 84 ms: no errors` */
export function triedText({ ms, columns }: TrialResult, rows: number): string {
  const failed = columns.filter(({ error }) => error !== null).length;
  const outcome = failed === 0 ? 'no errors' : `${formatNumberOf(failed, 'error')}`;
  return `${formatNumberOf(columns.length, 'replacement')} tried on ${rows} rows in ${formatDuration(ms)}: ${outcome}`;
}

/** What the query is tried in, and how long it took to open. */
export function openedText(ms: number): string {
  return `Copy restored in ${formatDuration(ms)}`;
}

/** Instead of the plan of a sanitization without a query. */
export function suggestionQuestion(target: string): { path: string[]; question: string; lines: string[] } {
  return {
    path: [target, 'sanitize'],
    question: `${target} has no sanitization query. Suggest one?`,
    lines: [
      'The snapshot is restored into a throw-away database, and its columns are searched for personal data.',
      'The source is not read. Nothing is stored before you save the query.',
    ],
  };
}

export const SUGGESTION_ANSWERS = {
  suggest: [
    { label: 'Cancel', value: 'leave' },
    { label: 'Suggest a query', value: 'go' },
  ],
  leave: [
    { label: 'Continue editing', value: 'stay' },
    { label: 'Discard the changes', value: 'leave' },
  ],
};

export function discardQuestion(target: string): { path: string[]; question: string; lines: string[] } {
  return { path: [target, 'suggestion'], question: 'Leave without saving the query?', lines: [] };
}

export const SUGGESTION_NOTICES = {
  generated: 'The column is generated from other columns: change those',
  trying: 'Trying the replacements…',
  noColumns: 'No column is replaced: there is nothing to save',
  notOpen: 'There is no suggestion yet',
  valueHint: 'the suggested value',
  reasonHint: 'why the values may stay, for reviewers',
};

/** Foreign keys need equal values on both sides. */
export function partnersText(partners: string[]): string {
  return `Give ${partners.join(', ')} an equal value: a foreign key connects them`;
}

/** Where the query goes: one line each. */
export function querySaveLines({ file, exists, configuration }: QuerySavePlan): string[] {
  return [
    exists ? `Add to ${file}` : `Create ${file}`,
    ...(configuration ? [`Set ${configuration.key} to ${configuration.value} in ${configuration.file}`] : []),
  ];
}

export function querySavedText(file: string): string {
  return `Saved ${basename(file)}. Press ${keyText('sanitize')} to sanitize with it`;
}
