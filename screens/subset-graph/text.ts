import type { Span } from '../../components/line.tsx';
import { ruleText } from '../../src/operations/subset/text.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { SubsetGraph, SubsetReference } from '../../src/results/subset-results.ts';
import { formatCount, formatNumberOf } from '../../src/text/format.ts';
import { cellWidth, cutMiddle, fitCells } from '../../src/text/text-width.ts';
import type { DiagramNode } from './tree.ts';

export type TableFacts = SubsetGraph['tables'][number];

/** Returns the facts of each table by its name. */
export function factsByTable({ tables }: SubsetGraph): (table: string) => TableFacts {
  const byTable = new Map(tables.map((each) => [each.table, each]));
  return (table) => byTable.get(table) ?? { table, rule: 'empty', rows: 0 };
}

/** `450 of 9,000`: its rows in the subset. */
export function rowsText({ rule, rows, expected }: TableFacts): string {
  if (rule === 'excluded' || rule === 'empty') return rule;
  return expected === undefined ? formatCount(rows) : `${formatCount(expected)} of ${formatCount(rows)}`;
}

/** `450` */
export function briefRowsText({ expected, ...facts }: TableFacts): string {
  return rowsText({ ...facts, rows: expected ?? facts.rows });
}

/** The names without the schema where all tables are in one. */
export function shortNames({ tables }: SubsetGraph): (table: string) => string {
  const schema = /^[^.]*\./.exec(tables[0]?.table ?? '')?.[0] ?? '';
  const isCommon = tables.every(({ table }) => table.startsWith(schema));
  return (table) => (isCommon ? table.slice(schema.length) : table);
}

/** Above a column, or a group of lines. */
export function stepHeading(step: number, count: number): string {
  if (step === 0) return 'Table';
  if (Math.abs(step) > 1) return `${Math.abs(step)} steps`;
  return `${step < 0 ? 'References' : 'Referenced by'} (${formatCount(count)})`;
}

/** Signs beside a table: `↺ +3`, where the three tables further out are not in view. */
export function marksOf(node: DiagramNode, { glyphs, isEdge }: { glyphs: Glyphs; isEdge: boolean }): string {
  const { repeats, itself, reference, further } = node;
  const isCircular = repeats || itself !== null || reference?.circular === true;
  return [isCircular ? glyphs.loop : '', isEdge && further > 0 ? `+${further}` : ''].filter(Boolean).join(' ');
}

export function itselfText({ loop }: Glyphs): string {
  return `${loop} self-reference`;
}

export const IN_THE_MIDDLE = 'It is in the middle already';

/** About the selected table, below the diagram: its rows, the reference that leads to it or its neighbours. */
export function diagramFacts(graph: SubsetGraph, node: DiagramNode): Span[][] {
  const facts = factsByTable(graph)(node.table);
  const { rule, rows, expected } = facts;
  const share = rows === 0 ? '' : `${Math.round(((expected ?? 0) / rows) * 1000) / 10} %`;
  return [
    [
      { text: `${rule}: `, tone: 'strong' },
      { text: `${ruleText(rule).text}   ` },
      { text: `${rowsText({ ...facts, rule: 'copy' })} rows` },
      { text: expected === undefined ? ', not counted' : share && `, ${share}`, tone: 'dim' },
    ],
    node.reference ? referenceSpans(node.reference) : neighboursSpans(graph, node.table),
  ];
}

function referenceSpans(reference: SubsetReference): Span[] {
  const { from, to, names } = reference;
  return [{ text: `${from} → ${to}` }, { text: `  ${[...names, ...traitsOf(reference)].join(', ')}`, tone: 'dim' }];
}

function neighboursSpans({ references }: SubsetGraph, table: string): Span[] {
  const count = (own: 'from' | 'to', other: 'from' | 'to'): number =>
    references.filter((reference) => reference[own] === table && reference[other] !== table).length;
  const itself = references.find(({ from, to }) => from === table && to === table);
  const own = itself ? `, references itself: ${itself.names.join(', ')}` : '';
  return [
    { text: `References ${formatNumberOf(count('from', 'to'), 'table')}` },
    { text: `, referenced by ${formatNumberOf(count('to', 'from'), 'table')}${own}` },
  ];
}

function traitsOf({ chosen, circular, excluded }: SubsetReference): string[] {
  return [
    ...(chosen ? ['adds rows'] : []),
    ...(circular ? ['circular'] : []),
    ...(excluded ? ['excluded: its columns become null'] : []),
  ];
}

/** The signs that the diagram of these references has. */
export function legend({ references }: SubsetGraph, { heavy, broken, loop, rule }: Glyphs): Span[] {
  const has = (trait: 'chosen' | 'circular' | 'excluded'): boolean => references.some((each) => each[trait]);
  return [
    ...(has('chosen') ? [{ text: `${heavy} adds rows   `, tone: 'accent' as const }] : []),
    { text: `${rule} other   `, tone: 'dim' },
    ...(has('excluded') ? [{ text: `${broken} excluded   `, tone: 'dim' as const }] : []),
    ...(has('circular') ? [{ text: `${loop} circular   `, tone: 'caution' as const }] : []),
    { text: '+3 further tables', tone: 'dim' },
  ];
}

/** Above the counts of a column. */
export const ROWS_HEADING = 'rows';

/** For narrow windows and screen readers: one line for each table. */
export function lineOf(node: DiagramNode, { factsOf, glyphs, name, width }: LineOptions): Span[] {
  const facts = factsOf(node.table);
  if (glyphs.toLeft === '') return [{ text: spokenLine(node, { facts, glyphs, name }) }];
  const indent = '  '.repeat(Math.max(0, Math.abs(node.step) - 1));
  const marks = marksOf(node, { glyphs, isEdge: node.shown.length === 0 });
  const lead = `${indent}${arrowOf(node, glyphs)}`;
  const right = `  ${rowsText(facts)}${marks === '' ? '' : ` ${marks}`}`;
  return [
    { text: lead },
    {
      text: fitCells(
        cutMiddle(name(node.table), width - cellWidth(lead + right), glyphs.ellipsis),
        width - cellWidth(lead + right),
      ),
      tone: ruleText(facts.rule).tone,
    },
    { text: right, tone: 'dim' },
  ];
}

interface LineOptions {
  factsOf: (table: string) => TableFacts;
  glyphs: Glyphs;
  name: (table: string) => string;
  width: number;
}

/** To a referenced table, or from one that references. */
function arrowOf({ reference, table }: DiagramNode, { toLeft, toRight }: Glyphs): string {
  if (reference === null) return '';
  return `${reference.to === table ? toRight : toLeft} `;
}

/** In place of arrows and indentation. */
function spokenLine(
  node: DiagramNode,
  { facts, glyphs, name }: Pick<LineOptions, 'glyphs' | 'name'> & { facts: TableFacts },
): string {
  const { table, near, reference } = node;
  const verb = reference?.to === table ? 'referenced by' : 'references';
  return [
    name(table),
    ...(near === null ? [] : [`${verb} ${name(near.table)}`]),
    rowsText(facts),
    ...(reference?.chosen ? ['adds rows'] : []),
    marksOf(node, { glyphs, isEdge: node.shown.length === 0 }),
  ]
    .filter((text) => text !== '')
    .join(', ');
}
