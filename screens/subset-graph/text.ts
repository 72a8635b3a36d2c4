import type { Span } from '../../components/line.tsx';
import { ruleText } from '../../src/operations/subset/text.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { SubsetGraph, SubsetReference } from '../../src/results/subset-results.ts';
import { formatCount, formatNumberOf } from '../../src/text/format.ts';
import type { DiagramNode } from './tree.ts';

export type TableFacts = SubsetGraph['tables'][number];

export function factsOf({ tables }: SubsetGraph, table: string): TableFacts {
  return tables.find((each) => each.table === table) ?? { table, rule: 'empty', rows: 0 };
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
  const text = step === -1 ? 'References' : step === 1 ? 'Referenced by' : `${Math.abs(step)} steps`;
  return `${text} ${formatCount(count)}`;
}

/** Signs beside a table: `↺ +3`, where the three tables further out are not in view. */
export function marksOf(node: DiagramNode, { glyphs, isEdge }: { glyphs: Glyphs; isEdge: boolean }): string {
  const { repeats, itself, reference, further } = node;
  const isCircular = repeats || itself !== null || reference?.circular === true;
  return [isCircular ? glyphs.loop : '', isEdge && further > 0 ? `+${further}` : ''].filter(Boolean).join(' ');
}

export function itselfText({ loop }: Glyphs): string {
  return `${loop} references itself`;
}

export const IN_THE_MIDDLE = 'It is in the middle already';

/** About the selected table, below the diagram: the rows, the reference that leads to it, its neighbours. */
export function diagramFacts(graph: SubsetGraph, node: DiagramNode): Span[][] {
  const facts = factsOf(graph, node.table);
  const { rule } = ruleText(facts.rule);
  const { expected } = facts;
  const counted = expected === undefined ? 'not counted in the subset' : sharePart(expected, facts.rows);
  return [
    [
      { text: `${facts.rule}`, tone: 'strong' },
      { text: `  ${rule}`, tone: 'dim' },
    ],
    [{ text: `${rowsText({ ...facts, rule: 'copy' })} rows` }, { text: `  ${counted}`, tone: 'dim' }],
    node.reference ? referenceSpans(node.reference) : neighboursSpans(graph, node.table),
  ];
}

function sharePart(expected: number, rows: number): string {
  return rows === 0 ? '' : `${Math.round((expected / rows) * 1000) / 10} % of the source`;
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
    ...(chosen ? ['rows come by it'] : []),
    ...(circular ? ['circular'] : []),
    ...(excluded ? ['excluded: its columns become null'] : []),
  ];
}

/** The signs that the diagram of these references has. */
export function legend({ references }: SubsetGraph, { strokes, heads, loop, rule }: Glyphs): Span[] {
  const line = (stroke: string): string => `${stroke}${stroke}${heads.left}`;
  const has = (trait: 'chosen' | 'circular' | 'excluded'): boolean => references.some((each) => each[trait]);
  return [
    ...(has('chosen') ? [{ text: `${line(strokes.heavy)} rows come by it   `, tone: 'accent' as const }] : []),
    { text: `${line(rule)} other reference   `, tone: 'dim' },
    ...(has('excluded') ? [{ text: `${line(strokes.broken)} excluded   `, tone: 'dim' as const }] : []),
    ...(has('circular') ? [{ text: `${loop} circular   `, tone: 'caution' as const }] : []),
    { text: '+3 further tables', tone: 'dim' },
  ];
}

/** For narrow windows and screen readers: one line for each table. */
export function lineOf(node: DiagramNode, { graph, glyphs, name }: LineOptions): Span[] {
  const facts = factsOf(graph, node.table);
  const indent = '  '.repeat(Math.max(0, Math.abs(node.step) - 1));
  const count = `${facts.rule}  ${rowsText({ ...facts, rule: 'copy' })}`;
  const isEdge = node.shown.length === 0;
  const traits = [node.reference?.chosen ? 'rows come by it' : '', marksOf(node, { glyphs, isEdge })].filter(Boolean).join('  ');
  return [
    { text: `${indent}${arrowOf(node, glyphs)}` },
    { text: name(node.table), tone: ruleText(facts.rule).tone },
    { text: `  ${count}` },
    { text: `  ${traits}`, tone: 'dim' },
  ];
}

interface LineOptions {
  graph: SubsetGraph;
  glyphs: Glyphs;
  name: (table: string) => string;
}

/** From the table that references. */
export function arrowOf({ reference, table, step }: DiagramNode, { heads }: Glyphs): string {
  if (reference === null || heads.left === '') return '';
  return (reference.to === table) === step < 0 ? `${heads.left} ` : `${heads.right} `;
}
