import type {
  Coverage,
  SanitizeFinding,
  SanitizePlan,
  SanitizeResult,
  TableCoverage,
} from '../results/sanitize-results.ts';
import { formatBytes, formatCount, formatDuration, formatNumberOf } from '../text/format.ts';
import { destinationLines, typedName } from './destination.ts';
import type { Question } from './question.ts';
import { type Column, formatTable, type TableOptions } from './table.ts';

/** The plan of a sanitization for people: which query on what, where, and what can be undone. */
export function sanitizePlanLines(plan: SanitizePlan): string[] {
  const { target, snapshot, query, destination, where, strict, steps, warnings } = plan;
  const of = snapshot ? `snapshot ${snapshot.index} of ${target} (${snapshot.id})` : `a new snapshot of ${target}`;
  return [
    `Sanitize ${of}`,
    '  data      sanitized: by the query below',
    ...(destination ? destinationLines(destination) : [`  database  ${where}`]),
    `  query     ${query.chosen_by}${query.file === null ? '' : `: ${query.file}`}${query.base64 ? ' (base64)' : ''}`,
    ...query.statements.map(({ number, line, text }) => `    ${number}. (line ${line}) ${oneLine(text)}`),
    ...(strict ? ['  strict    nothing is published while personal data is left'] : []),
    ...steps.map((step, index) => `  ${String(index + 1).padStart(2)}. ${step}`),
    ...warnings.map(({ message }) => `  warning: ${message}`),
  ];
}

/** `null` when nothing is replaced, so that nobody need be asked. */
export function sanitizeQuestion(plan: SanitizePlan): Question | null {
  const { destination } = plan;
  if (!destination?.exists) return null;
  const ask = `Replace database "${destination.database}" on ${destination.host}?`;
  return { plan: sanitizePlanLines(plan), ask, ...typedName(destination) };
}

/** What a sanitization did: findings first, since those are what somebody has to act on. */
export function sanitizedText(result: SanitizeResult, target: string, options: TableOptions): string {
  const { snapshot, original, destination, statements, coverage, swap_ms, undo_database } = result;
  const size = `${formatNumberOf(snapshot.tables, 'table')}, ${formatNumberOf(snapshot.rows, 'row')}, ${formatBytes(snapshot.size_bytes)}`;
  const ran = formatNumberOf(statements, 'statement');
  return [
    `Sanitized snapshot ${original.index} of ${target} (${original.id}) by ${ran}: ${snapshot.id}, ${size}`,
    ...(destination === null || swap_ms === null
      ? []
      : [`${destination} is the sanitized one; it was away for ${formatDuration(swap_ms)}`]),
    ...(undo_database === null ? [] : [`The database as it was is kept: ${undo_database}`]),
    '',
    ...coverageLines(coverage, options),
  ].join('\n');
}

/** What the query has changed and what it has not. */
function coverageLines({ findings, acknowledged, tables }: Coverage, options: TableOptions): string[] {
  return [
    ...findingsLines(findings, options),
    ...acknowledged.map(({ column, reason }) => `kept as it is: ${column} (${reason})`),
    ...(acknowledged.length > 0 ? [''] : []),
    ...(tables.length > 0 ? [formatTable(TABLE_COLUMNS, tables, options)] : []),
  ];
}

function findingsLines(findings: SanitizeFinding[], options: TableOptions): string[] {
  if (findings.length === 0) return ['No column that looks personal is as it was.', ''];
  const count = formatNumberOf(findings.length, 'column looks', 'columns look');
  return [
    `${count} personal and still hold${findings.length === 1 ? 's' : ''} what was there:`,
    formatTable(FINDING_COLUMNS, findings, options),
    '',
  ];
}

const FINDING_COLUMNS: Column<SanitizeFinding>[] = [
  { title: 'COLUMN', cell: ({ column }) => column, tone: () => 'caution' },
  { title: 'LOOKS LIKE', cell: ({ meaning }) => meaning },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'VALUES', cell: ({ values }) => formatCount(values), align: 'right' },
  { title: 'SAMPLES', cell: ({ samples }) => samples.join('  ') },
];

const TABLE_COLUMNS: Column<TableCoverage>[] = [
  { title: 'TABLE', cell: ({ name }) => name },
  { title: 'CONTENT', cell: ({ state }) => state, tone: ({ state }) => (state === 'untouched' ? 'dim' : undefined) },
  { title: 'ROWS BEFORE', cell: ({ rows_before }) => countOf(rows_before), align: 'right' },
  { title: 'AFTER', cell: ({ rows_after }) => countOf(rows_after), align: 'right' },
];

function countOf(rows: number | null): string {
  return rows === null ? '–' : formatCount(rows);
}

const SHOWN = 100;

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
