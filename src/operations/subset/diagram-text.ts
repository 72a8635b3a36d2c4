import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import type { SubsetGraph, SubsetReference } from '../../results/subset-results.ts';
import { formatCount, formatNumberOf } from '../../text/format.ts';
import { cellWidth, fitCells } from '../../text/text-width.ts';

type Role = 'Referenced by' | 'Table' | 'References';

/** A line: the table in focus, or one that references it or that it references. */
export interface Neighbour {
  role: Role;
  table: string;
  /** Between the two; of the focus the one to itself. */
  reference: SubsetReference | null;
}

export function neighbourhood({ references }: SubsetGraph, focus: string): Neighbour[] {
  const side = (role: Role, own: 'from' | 'to', other: 'from' | 'to'): Neighbour[] =>
    references
      .filter((reference) => reference[own] === focus && reference[other] !== focus)
      .map((reference) => ({ role, table: reference[other], reference }))
      .toSorted(chosenFirst);
  const itself = references.find(({ from, to }) => from === focus && to === focus) ?? null;
  return [
    ...side('Referenced by', 'to', 'from'),
    { role: 'Table', table: focus, reference: itself },
    ...side('References', 'from', 'to'),
  ];
}

/** The neighbourhood of a table, in which it is selected itself. */
export function focusOn(graph: SubsetGraph, focus: string): { focus: string; selected: number } {
  return { focus, selected: neighbourhood(graph, focus).findIndex(({ role }) => role === 'Table') };
}

function chosenFirst(a: Neighbour, b: Neighbour): number {
  return Number(b.reference?.chosen) - Number(a.reference?.chosen) || (a.table < b.table ? -1 : 1);
}

export interface DiagramSpan {
  text: string;
  tone?: Tone;
  bold?: boolean;
}

interface DiagramOptions {
  graph: SubsetGraph;
  focus: string;
  selected: number;
  /** In lines. */
  height: number;
  glyphs: Glyphs;
}

/** A line for each neighbour; of more than fit those around the selected one. */
export function diagramLines({ graph, focus, selected, height, glyphs }: DiagramOptions): DiagramSpan[][] {
  const neighbours = neighbourhood(graph, focus);
  const facts = new Map(graph.tables.map((table) => [table.table, table]));
  const first = Math.max(0, Math.min(selected - Math.floor(height / 2), neighbours.length - height));
  const shown = neighbours.slice(first, first + height);
  const width = Math.max(...shown.map(({ table }) => cellWidth(table)));
  const countOf = (table: string): string => {
    const { rows = 0, expected } = facts.get(table) ?? {};
    return expected === undefined ? formatCount(rows) : `${formatCount(expected)} of ${formatCount(rows)}`;
  };
  const counts = Math.max(9, ...shown.map(({ table }) => cellWidth(countOf(table))));
  return shown.map(({ role, table, reference }, at) => {
    const { rule = 'empty' } = facts.get(table) ?? {};
    const isSelected = first + at === selected;
    return [
      { text: isSelected ? `${glyphs.pointer} ` : '  ', tone: 'accent' },
      { text: role.padEnd(15), tone: 'dim' },
      { text: `${fitCells(table, width)}  `, tone: RULE_TONES[rule], bold: isSelected || role === 'Table' },
      { text: `${rule.padEnd(8)} ${countOf(table).padStart(counts)}  ` },
      { text: reference ? [...traitsOf(reference), ...reference.names].join(', ') : '', ...spanStyle(reference) },
    ];
  });
}

const RULE_TONES: Record<SubsetGraph['tables'][number]['rule'], Tone> = {
  target: 'strong',
  child: 'plain',
  parent: 'plain',
  copy: 'good',
  excluded: 'caution',
  empty: 'dim',
};

function spanStyle(reference: SubsetReference | null): Omit<DiagramSpan, 'text'> {
  if (reference?.circular) return { tone: 'bad', bold: reference.chosen };
  return reference?.chosen ? { tone: 'accent', bold: true } : { tone: 'dim' };
}

function traitsOf({ chosen, circular, excluded }: SubsetReference): string[] {
  return [...(chosen ? ['rows come by it'] : []), ...(circular ? ['circular'] : []), ...(excluded ? ['excluded'] : [])];
}

/** About the selected table, below the diagram. */
export function diagramText(graph: SubsetGraph, { role, table, reference }: Neighbour): string {
  if (reference && role !== 'Table') {
    return `${reference.from} → ${reference.to}: ${[...reference.names, ...traitsOf(reference)].join(', ')}`;
  }
  const count = (wanted: Role): number => neighbourhood(graph, table).filter((each) => each.role === wanted).length;
  return `${table}: referenced by ${formatNumberOf(count('Referenced by'), 'table')}, references ${formatNumberOf(count('References'), 'table')}`;
}
