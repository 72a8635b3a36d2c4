import type { SubsetExplanation, SubsetPlanResult, SubsetResult, SubsetTableRow } from '../results/subset-results.ts';
import { formatBytes, formatCount, formatDuration, formatNumberOf } from '../text/format.ts';
import { destinationLines, typedName } from './destination.ts';
import { dataLine } from './load.ts';
import type { Question } from './question.ts';
import { type Column, formatTable, type TableOptions } from './table.ts';

const COLUMNS: Column<SubsetTableRow>[] = [
  { title: 'TABLE', cell: ({ table }) => table, tone: ({ rule }) => (rule === 'target' ? 'accent' : undefined) },
  { title: 'RULE', cell: ({ rule }) => rule, tone: ({ rule }) => (rule === 'empty' ? 'dim' : undefined) },
  { title: 'ROWS NOW', cell: ({ rows_now }) => formatCount(rows_now), align: 'right' },
  {
    title: 'EXPECTED',
    cell: ({ rows_expected }) => (rows_expected === null ? '' : formatCount(rows_expected)),
    align: 'right',
  },
  { title: 'SIZE NOW', cell: ({ bytes_now }) => formatBytes(bytes_now), align: 'right' },
  {
    title: 'EXPECTED',
    cell: ({ bytes_expected }) => (bytes_expected === null ? '' : formatBytes(bytes_expected)),
    align: 'right',
  },
  {
    title: 'COMES BY',
    cell: ({ path, nulled }) =>
      [path.slice(1).join(' '), nulled.length > 0 ? `(null: ${nulled.join(', ')})` : '']
        .filter((text) => text !== '')
        .join(' '),
  },
];

/** The plan of a subset for people: what comes, how much of it, and why. */
export function subsetPlanText(plan: SubsetPlanResult, options: TableOptions): string {
  return [
    ...headLines(plan),
    '',
    formatTable(COLUMNS, [...plan.tables].sort(byRule), options),
    '',
    ...plan.circles.map((tables) => `circle: ${tables.join(' ⇄ ')}; nothing needs to be configured for it`),
    ...plan.warnings.map(({ message }) => `warning: ${message}`),
  ]
    .join('\n')
    .trimEnd();
}

export function subsetQuestion(plan: SubsetPlanResult): Question {
  const { destination, tables } = plan;
  const rules = RULES.map((rule) => {
    const count = tables.filter((table) => table.rule === rule).length;
    return count === 0 ? '' : `${count} ${rule}`;
  });
  return {
    plan: [
      ...headLines(plan),
      `  tables    ${rules.filter((text) => text !== '').join(', ')}; --dry-run lists them`,
      ...plan.warnings.map(({ message }) => `  warning: ${message}`),
    ],
    ask: `${destination.exists ? 'Replace' : 'Create'} database "${destination.database}" on ${destination.host}?`,
    ...typedName(destination),
  };
}

/** What was made, and how to take it back. */
export function subsetText({ target, destination, tables, rows, proof, ...result }: SubsetResult): string {
  const filled = tables.filter((table) => table.rows > 0).length;
  const inSource = proof.reduce((sum, { orphans_in_source }) => sum + orphans_in_source, 0);
  return [
    `Made the subset of ${target} in ${destination}: ${formatNumberOf(rows, 'row')} in ${formatNumberOf(filled, 'table')}`,
    inSource === 0
      ? `Every one of ${formatNumberOf(proof.length, 'reference')} holds`
      : `${formatNumberOf(proof.length, 'reference')} proved; ${formatNumberOf(inSource, 'row')} refer to none in the source either`,
    ...(result.snapshot ? [`Stored as snapshot ${result.snapshot.index} of ${target} (${result.snapshot.id})`] : []),
    ...(result.swap_ms === null ? [] : [`The database was away for ${formatDuration(result.swap_ms)}`]),
    ...(result.undo_database === null
      ? []
      : [`The database as it was is kept: tool undo ${target} --destdb URL of the subset`]),
  ].join('\n');
}

/** The chain, a line a row. */
export function explanationText({ row, chain }: SubsetExplanation): string {
  const name = `${row.table}:${row.key}`;
  if (chain === null) return `${name} is not in the subset`;
  return chain.map(({ table, key, why }) => `${table}:${key} ${why}`).join('\n');
}

const RULES: SubsetTableRow['rule'][] = ['target', 'child', 'parent', 'copy', 'excluded', 'empty'];

function byRule(a: SubsetTableRow, b: SubsetTableRow): number {
  return RULES.indexOf(a.rule) - RULES.indexOf(b.rule) || (a.table < b.table ? -1 : 1);
}

function headLines(plan: SubsetPlanResult): string[] {
  const { target, source, destination, undo, seed } = plan;
  return [
    `Subset of ${target} from ${source}, seed ${seed}`,
    dataLine(plan),
    ...destinationLines(destination),
    `  undo      ${undo ? `the database as it is now is kept: tool undo ${target} --destdb URL of the subset` : 'nothing is kept'}`,
  ];
}
