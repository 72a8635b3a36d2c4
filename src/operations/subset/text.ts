import { itemLines, writeScalar } from '../../config/yaml/yaml-text.ts';
import type { Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import {
  askToReplace,
  destinationFacts,
  type Question,
  replacement,
  restoringFacts,
  serverFact,
  typedName,
  undoFacts,
  warningsOf,
} from '../../presentation/shapes/question.ts';
import { summaryOf, unavailableFor, undoText } from '../../presentation/shapes/summary.ts';
import { dataFact, kindBadge, snapshotName } from '../../presentation/snapshot.ts';
import type {
  SubsetExplanation,
  SubsetGraphResult,
  SubsetPlanResult,
  SubsetResult,
  SubsetSuggestion,
  SubsetTableRow,
} from '../../results/subset-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../text/format.ts';
import { joinLines } from '../../text/printable.ts';
import { shell } from '../../text/shell-word.ts';

export function subsetQuestion(plan: SubsetPlanResult): Question {
  const { target, source, destination, tables, seed, undo } = plan;
  const { database, exists, host } = destination;
  return {
    title: `Create a subset of ${target}`,
    subject: {
      badge: plan.sanitized === null ? null : kindBadge(plan.sanitized),
      text: `subset of ${target} into ${database} on ${host}`,
    },
    facts: [
      { name: 'Source', value: source },
      { name: 'Contents', value: `${expectedText(tables)}, seed ${seed}` },
      dataFact(plan),
      ...destinationFacts(destination),
      serverFact(destination),
      ...restoringFacts(plan),
      ...undoFacts(undo ? undoCommand(target) : null),
    ],
    steps: [
      'Select rows in a read-only transaction on the source',
      'Copy them into a shadow database',
      'Verify every foreign key',
      `Switch ${database} to the shadow database`,
    ],
    warnings: [...warningsOf({ ...plan, warnings: [] }), ...warningCounts(plan)],
    consequence: replacement(destination, undo),
    ask: askToReplace(destination),
    go: exists ? `Replace ${database}` : `Create ${database}`,
    typed: typedName(plan.destination),
  };
}

function undoCommand(target: string): string {
  return shell`tool undo ${target} --destdb URL`;
}

/** `3 tables with rows, 620 rows`; by rule where the rows were not counted. */
function expectedText(tables: SubsetTableRow[]): string {
  if (tables.every(({ rows_expected }) => rows_expected === null)) {
    const counts = Map.groupBy([...tables].sort(byRule), ({ rule }) => rule);
    return `tables: ${[...counts].map(([rule, of]) => `${of.length} ${rule}`).join(', ')}`;
  }
  const { filled, rows } = subsetSize(tables);
  return `${formatNumberOf(filled, 'table')} with rows, ${formatNumberOf(rows, 'row')}`;
}

function subsetSize(tables: SubsetTableRow[]) {
  const filled = tables.filter(({ rows_expected }) => (rows_expected ?? 0) > 0);
  return {
    filled: filled.length,
    rows: filled.reduce((sum, { rows_expected }) => sum + (rows_expected ?? 0), 0),
    bytes: filled.reduce((sum, { bytes_expected }) => sum + (bytes_expected ?? 0), 0),
  };
}

/** `620 rows in 3 tables, 62.0 kB` */
export function subsetSizeText(tables: SubsetTableRow[]): string {
  const { filled, rows, bytes } = subsetSize(tables);
  return `${formatNumberOf(rows, 'row')} in ${formatNumberOf(filled, 'table')}, ${formatBytes(bytes)}`;
}

/** Harmless warnings as counts: the plan of a dry run and the screen have the details. */
function warningCounts({ warnings, tables }: SubsetPlanResult): string[] {
  const slow = warnings.filter(({ code }) => code === 'reference_without_index').length;
  const empty = tables.filter(({ rule }) => rule === 'empty').length;
  return [
    ...(slow > 0 ? [`${formatNumberOf(slow, 'reference')} without an index: their tables are read in full`] : []),
    ...(empty > 0 ? [`${formatNumberOf(empty, 'unreachable table')} created empty`] : []),
    ...warnings.filter(({ code }) => !COUNTED.includes(code)).map(({ message }) => message),
  ];
}

const COUNTED = ['reference_without_index', 'table_not_reached'];

export function subsetTitle({ target, destination }: SubsetPlanResult): string {
  return `subset ${target} → ${destination.database}`;
}

export function subsetSummary(result: SubsetResult, plan: SubsetPlanResult): RunSummary {
  const { target, destination, tables, rows, proof, snapshot, swap_ms, undo_database } = result;
  const { database, exists } = plan.destination;
  const filled = tables.filter((table) => table.rows > 0).length;
  const dangling = proof.reduce((sum, { orphans_in_source }) => sum + orphans_in_source, 0);
  const verified = `Verified ${formatNumberOf(proof.length, 'foreign key')}`;
  const contents = `${formatNumberOf(rows, 'row')} in ${formatNumberOf(filled, 'table')}`;
  return summaryOf(`Created the subset of ${target} in ${destination}: ${contents}`, {
    card: { title: `${database} ${exists ? 'replaced' : 'created'}`, facts: [] },
    ...unavailableFor(database, exists ? swap_ms : null),
    details: [
      dangling === 0
        ? `${verified}: no dangling rows`
        : `${verified}: ${formatNumberOf(dangling, 'row')} dangling in the source as well`,
      ...(snapshot ? [`Stored as ${snapshotName(target, snapshot)}`] : []),
      // No key: that of the screens undoes the target's own destination.
      ...(undo_database === null ? [] : [undoText({ database, command: undoCommand(target) })]),
    ],
  });
}

/** Spaces before the items of a section's lists. */
const ITEM_INDENT = 8;

/** A section of the configuration to review and edit. */
export function subsetSuggestionText(suggestion: SubsetSuggestion): string {
  const { target, source, destination, subset_tables, tables } = suggestion;
  const listed = (key: string, names: string[]) =>
    names.length === 0 ? [] : [`      ${key}:`, ...names.flatMap((name) => itemLines(name, ITEM_INDENT))];
  const now = formatBytes(tables.reduce((sum, { bytes_now }) => sum + bytes_now, 0));
  return [
    `# ${subsetSizeText(tables)} of ${now}. The URLs are without passwords.`,
    'targets:',
    `  ${writeScalar(target)}:`,
    '    subset:',
    `      src_url: ${writeScalar(source)}`,
    `      dst_url: ${writeScalar(destination)}`,
    '      subset_tables:',
    ...subset_tables.flatMap((each) => itemLines(each, ITEM_INDENT)),
    ...listed('copy_tables', suggestion.copy_tables),
    ...listed('excluded_tables', suggestion.excluded_tables),
    '',
  ].join('\n');
}

/** Why a row is in the subset, a line a row. */
export function explanationText({ row, chain }: SubsetExplanation): string {
  const name = `${row.table}:${row.key}`;
  if (chain === null) return `${name} is not in the subset`;
  return joinLines(chain.map(({ table, key, why }) => `${table}:${key} ${why}`));
}

export function graphText({ file, tables, references }: SubsetGraphResult): string {
  return `Wrote Mermaid flow chart ${file}: ${formatNumberOf(tables, 'table')}, ${formatNumberOf(references, 'reference')}`;
}

/** A table of the plan in the tree of references. */
export interface SubsetTreeRow extends SubsetTableRow {
  depth: number;
}

/** Each table below the one that it is reached from: subset tables first, unreachable ones last. */
export function subsetTree(tables: SubsetTableRow[]): SubsetTreeRow[] {
  const below = Map.groupBy(
    tables.filter(({ path }) => path.length > 1),
    ({ path }) => path[2] ?? '',
  );
  const rows: SubsetTreeRow[] = [];
  const visit = (row: SubsetTableRow, depth: number): void => {
    rows.push({ ...row, depth });
    for (const next of below.get(row.table) ?? []) visit(next, depth + 1);
  };
  const rank = ({ rule, path }: SubsetTableRow): number => (path.length === 0 ? 2 : rule === 'target' ? 0 : 1);
  const roots = tables.filter(({ path }) => path.length <= 1);
  for (const root of roots.toSorted((a, b) => rank(a) - rank(b))) visit(root, 0);
  return rows;
}

/** In the order in which the command line lists them. */
const RULES: Record<SubsetTableRow['rule'], { tone: Tone; text: string }> = {
  target: { tone: 'strong', text: 'subset table' },
  child: { tone: 'plain', text: 'its rows reference selected rows' },
  parent: { tone: 'plain', text: 'selected rows reference its rows' },
  copy: { tone: 'good', text: 'copied in full' },
  excluded: { tone: 'caution', text: 'excluded: created empty' },
  empty: { tone: 'dim', text: 'not reachable from the subset tables: created empty' },
};

/** The meaning of a rule, and its look. */
export function ruleText(rule: SubsetTableRow['rule']): { tone: Tone; text: string } {
  return RULES[rule];
}

function byRule(a: SubsetTableRow, b: SubsetTableRow): number {
  const order = Object.keys(RULES);
  return order.indexOf(a.rule) - order.indexOf(b.rule) || (a.table < b.table ? -1 : 1);
}

export function subsetList(tables: SubsetTableRow[]): SubsetTreeRow[] {
  return [...tables].sort(byRule).map((row) => ({ ...row, depth: 0 }));
}

export function subsetColumns({ glyphs }: { glyphs: Glyphs }): Column<SubsetTreeRow>[] {
  return [
    {
      title: 'TABLE',
      grows: true,
      cell: ({ table, depth, rule }) => ({ text: `${'  '.repeat(depth)}${table}`, tone: RULES[rule].tone }),
    },
    { title: 'RULE', cell: ({ rule }) => ({ text: rule, tone: RULES[rule].tone }) },
    { title: 'ROWS NOW', align: 'right', dropRank: 2, cell: ({ rows_now }) => ({ text: formatCount(rows_now) }) },
    { title: 'SIZE NOW', align: 'right', dropRank: 3, cell: ({ bytes_now }) => ({ text: formatBytes(bytes_now) }) },
    {
      title: 'IN THE SUBSET',
      align: 'right',
      cell: ({ rows_expected }) => ({ text: rows_expected === null ? glyphs.none : formatCount(rows_expected) }),
    },
    {
      title: 'SIZE',
      align: 'right',
      dropRank: 1,
      cell: ({ bytes_expected }) => ({ text: bytes_expected === null ? glyphs.none : formatBytes(bytes_expected) }),
    },
  ];
}

/** Returns the column for the path of each table, for wide terminals. */
export function subsetPathColumn(): Column<SubsetTreeRow> {
  return {
    title: 'PATH',
    cell: ({ path, nulled }) => {
      const parts = [path.slice(1).join(' '), nulled.length > 0 ? `(null: ${nulled.join(', ')})` : ''];
      return { text: parts.filter((text) => text !== '').join(' ') };
    },
  };
}

/** `chosen` is the share of a subset table: `5 %`, or its condition. */
export function subsetTableFacts({ rule, path, nulled }: SubsetTableRow, chosen: string | undefined): Fact[] {
  const { text } = RULES[rule];
  return [
    { name: 'Rule', value: chosen === undefined ? text : `${text}: ${chosen}` },
    ...(path.length > 1 ? [{ name: 'Path', value: path.join(' ') }] : []),
    ...(nulled.length > 0 ? [{ name: 'Set to null', value: nulled.join(', ') }] : []),
  ];
}

export function circlesText(circles: string[][]): string[] {
  return circles.map((tables) => `Circular references: ${tables.join(' ⇄ ')} (no configuration needed)`);
}

export function suggestionOffer(target: string): { path: string[]; question: string; lines: string[] } {
  return {
    path: [target, 'subset'],
    question: `${target} has no subset. Suggest one?`,
    lines: [
      'It begins with a share of the large tables that most rows reference. The source is only read.',
      'Rows and sizes are shown, each table can be changed. Nothing is written before you save it.',
    ],
  };
}

export const SUGGESTION_OFFER_ANSWERS = [
  { label: 'Cancel', value: 'leave' },
  { label: 'Suggest a subset', value: 'go' },
];

// Why a key changes nothing in the plan.

export function notByShare(table: string): string {
  return `${table} is not selected by a percentage`;
}

export function smallestOrLargest(percent: number, direction: 1 | -1): string {
  return `${percent} % is the ${direction === 1 ? 'largest' : 'smallest'} step`;
}

export function isSubsetTable(table: string): string {
  return `${table} is a subset table`;
}
