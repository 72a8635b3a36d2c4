import { ENGINE_NAMES } from '../presentation/snapshot.ts';
import type { SnapshotRow, VerifiedRestore } from '../results/results.ts';
import type { Coverage } from '../results/review/sanitize-results.ts';
import { formatBytes, formatCount, formatDuration, formatNumberOf, formatTime } from '../text/format.ts';
import { markdownText } from '../text/markdown.ts';
import { coverageRows, findingsText, tablesText } from './sanitize/coverage-text.ts';
import { restoredText } from './snapshots/transfer/transfer-text.ts';

export interface MarkdownSummary {
  target: string;
  /** `null` for a subset that is not stored. */
  snapshot: SnapshotRow | null;
  /** The sanitized snapshot, where an original was built as well. */
  sanitized?: SnapshotRow;
  coverage?: Coverage;
  /** Proof that it can be restored. */
  restore?: VerifiedRestore;
  /** The largest first. */
  tables: { table: string; rows: number; bytes: number | null }[];
  durationMs: number;
}

/** GitHub shows at most 1 MiB. */
const MOST_ROWS = 500;

/**
 * Formats the result of a build, a sanitization, a subset or a proof by restore as Markdown, without values of columns
 * except that of the query of a proof.
 */
export function markdownSummary(summary: MarkdownSummary): string {
  const { target, snapshot, coverage, tables, durationMs } = summary;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const facts = [
    ...(snapshot ? snapshotFacts(snapshot) : []),
    ...(summary.sanitized ? [['Sanitized snapshot', summary.sanitized.id]] : []),
    ['Tables', formatCount(snapshot?.tables ?? tables.length)],
    ['Rows', formatCount(snapshot?.rows ?? rows)],
    ...(snapshot ? [['Size', formatBytes(snapshot.size_bytes)]] : []),
    ...(snapshot ? [['Stored', formatBytes(snapshot.stored_bytes)]] : []),
    ...(snapshot ? [['Location', snapshot.where.join(' + ')]] : []),
    ['Duration', formatDuration(durationMs)],
    ...restoreFacts(summary.restore),
    ...(coverage ? [['Sanitization', `${findingsText(coverage)}; ${tablesText(coverage.tables)}`]] : []),
  ];
  const title = snapshot ? `Snapshot of ${target}` : `Subset of ${target}`;
  return [
    `## ${markdownText(title)}`,
    table([['', ''], ...facts.map(([name = '', value = '']) => [name, markdownText(value)])]),
    ...(coverage ? columnSection(coverage) : []),
    tableSection(tables, coverage),
  ]
    .join('\n\n')
    .concat('\n');
}

function snapshotFacts({ id, created_at, engine, server_version, sanitized, note }: SnapshotRow): string[][] {
  return [
    ['Snapshot', id],
    ['Kind', sanitized ? 'sanitized' : 'original'],
    ['Created', formatTime(created_at)],
    ['Server', `${ENGINE_NAMES[engine]} ${server_version}`],
    ...(note === null ? [] : [['Note', note]]),
  ];
}

function restoreFacts(restore: VerifiedRestore | undefined): string[][] {
  if (!restore) return [];
  const { after_load_steps: steps, query_value: value } = restore;
  return [
    ['Restore', restoredText(restore)],
    ...(steps === undefined ? [] : [['Steps of after_load', formatCount(steps)]]),
    ...(value === undefined ? [] : [['Value of the query', value ?? 'NULL']]),
  ];
}

function columnSection(coverage: Coverage): string[] {
  const rows = coverageRows(coverage);
  if (rows.length === 0) return [];
  const cells = rows
    .slice(0, MOST_ROWS)
    .map(({ column, meaning, state }) => [column, meaning, state].map(markdownText));
  return [
    '### Columns that look like personal data',
    table([['Column', 'Looks like', 'State'], ...cells]),
    ...rest(rows.length, 'column'),
  ];
}

function tableSection(tables: MarkdownSummary['tables'], coverage: Coverage | undefined): string {
  const states = new Map(coverage?.tables.map(({ name, state }) => [name, state]));
  const head = ['Table', 'Rows', 'Size', ...(coverage ? ['Sanitization'] : [])];
  const cells = tables
    .slice(0, MOST_ROWS)
    .map(({ table: name, rows, bytes }) => [
      markdownText(name),
      formatCount(rows),
      bytes === null ? '' : formatBytes(bytes),
      ...(coverage ? [states.get(name) ?? ''] : []),
    ]);
  return ['### Tables', table([head, ...cells]), ...rest(tables.length, 'table')].join('\n\n');
}

function rest(count: number, what: string): string[] {
  return count > MOST_ROWS ? [`… and ${formatNumberOf(count - MOST_ROWS, `more ${what}`)}.`] : [];
}

function table([head = [], ...rows]: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
