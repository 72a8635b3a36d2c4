import type { SubsetGraph, SubsetReference } from '../results/subset-results.ts';
import { formatCount, formatNumberOf } from '../text/format.ts';
import { fitCells } from '../text/text-width.ts';
import type { Glyphs, Tone } from './shapes/glyphs.ts';

/** A table beside the focus, with the reference between the two. */
export interface Neighbour {
  table: string;
  reference: SubsetReference;
}

/** The tables that reference the focus, and those that it references. */
export interface Neighbourhood {
  left: Neighbour[];
  right: Neighbour[];
  /** The reference of the focus to itself. */
  own: SubsetReference | null;
}

export type Side = 'left' | 'focus' | 'right';

export interface DiagramPlace {
  focus: string;
  side: Side;
  /** Among the neighbours of the side. */
  index: number;
}

export function neighbourhood({ references }: SubsetGraph, focus: string): Neighbourhood {
  const others = references.filter(({ from, to }) => from !== to);
  const left = others.filter(({ to }) => to === focus).map((reference) => ({ table: reference.from, reference }));
  const right = others.filter(({ from }) => from === focus).map((reference) => ({ table: reference.to, reference }));
  const own = references.find(({ from, to }) => from === focus && to === focus) ?? null;
  return { left: left.toSorted(chosenFirst), right: right.toSorted(chosenFirst), own };
}

function chosenFirst(a: Neighbour, b: Neighbour): number {
  return Number(b.reference.chosen) - Number(a.reference.chosen) || (a.table < b.table ? -1 : 1);
}

/** The table that is selected, and its reference from or to the focus. */
export function selectedIn(
  graph: SubsetGraph,
  { focus, side, index }: DiagramPlace,
): Neighbour | { table: string; reference: null } {
  const neighbours = side === 'focus' ? [] : neighbourhood(graph, focus)[side];
  return neighbours[Math.min(index, neighbours.length - 1)] ?? { table: focus, reference: null };
}

export interface DiagramSpan {
  text: string;
  tone?: Tone;
  bold?: boolean;
}

interface Drawing {
  graph: SubsetGraph;
  place: DiagramPlace;
  width: number;
  height: number;
  glyphs: Glyphs;
}

const HEADINGS = { left: 'REFERENCED BY', focus: 'TABLE', right: 'REFERENCES' };
const MARGIN = 2;
const GAP = 5;
const WIDEST = 40;
const BOX_LINES = 4;

/** Three columns of boxes: the focus between its neighbours. Without box characters (spoken glyphs) a list. */
export function diagramLines(drawing: Drawing): DiagramSpan[][] {
  const { graph, place, width, height, glyphs } = drawing;
  const { ellipsis } = glyphs;
  const neighbours = neighbourhood(graph, place.focus);
  if (glyphs.rule === '') return spokenLines(graph, place, neighbours);
  const strokes = glyphs.rule === '─' ? UNICODE_STROKES : ASCII_STROKES;
  const column = Math.min(WIDEST, Math.floor((width - MARGIN * 2 - GAP * 2) / 3));
  const rows = Math.max(BOX_LINES, height - 1);
  const facts = new Map(graph.tables.map((table) => [table.table, table]));
  const boxOf = (table: string, reference: SubsetReference | null, isSelected: boolean): Box => ({
    table,
    facts: facts.get(table),
    reference,
    isSelected,
    column,
    strokes,
    ellipsis,
  });
  const side = (name: 'left' | 'right'): Drawn => {
    const isHere = place.side === name;
    const index = isHere ? place.index : 0;
    const shown = inWindow(neighbours[name], index, rows);
    const boxes = shown.items.map(({ table, reference }, at) =>
      boxOf(table, reference, isHere && at + shown.from === index),
    );
    return columnOf(boxes, { rows, column, above: shown.from, below: shown.below, strokes, ellipsis });
  };
  const [left, right] = [side('left'), side('right')];
  const focus = columnOf([boxOf(place.focus, neighbours.own, place.side === 'focus')], {
    rows,
    column,
    above: 0,
    below: 0,
    strokes,
    ellipsis,
  });
  const centre = focus.middles[0]?.row ?? 0;
  const into = gapOf({ middles: left.middles, centre, rows, strokes, towards: 'focus' });
  const out = gapOf({ middles: right.middles, centre, rows, strokes, towards: 'neighbours' });
  const heading = (name: Side): DiagramSpan => ({
    text: fitCells(HEADINGS[name], column, { ellipsis }),
    tone: 'dim',
  });
  const blank: DiagramSpan = { text: ' '.repeat(GAP) };
  const indent: DiagramSpan = { text: ' '.repeat(MARGIN) };
  return [
    [indent, heading('left'), blank, heading('focus'), blank, heading('right')],
    ...Array.from({ length: rows }, (_, row): DiagramSpan[] => [
      indent,
      ...(left.lines[row] ?? []),
      ...(into[row] ?? []),
      ...(focus.lines[row] ?? []),
      ...(out[row] ?? []),
      ...(right.lines[row] ?? []),
    ]),
  ];
}

interface Strokes {
  across: string;
  /** Of a reference by which rows come. */
  heavy: string;
  /** Of a reference that the configuration excludes. */
  broken: string;
  down: string;
  corners: [string, string, string, string];
  /** By what they join: left 1, right 2, up 4, down 8. */
  joints: Record<number, string>;
  arrow: string;
  circle: string;
  up: string;
  downMark: string;
}

const UNICODE_STROKES: Strokes = {
  across: '─',
  heavy: '━',
  broken: '┄',
  down: '│',
  corners: ['╭', '╮', '╰', '╯'],
  joints: {
    ...{ 1: '─', 2: '─', 3: '─', 4: '│', 5: '╯', 6: '╰', 7: '┴', 8: '│', 9: '╮', 10: '╭', 11: '┬', 12: '│' },
    ...{ 13: '┤', 14: '├', 15: '┼' },
  },
  arrow: '▶',
  circle: '↻',
  up: '▲',
  downMark: '▼',
};

const ASCII_STROKES: Strokes = {
  across: '-',
  heavy: '=',
  broken: '.',
  down: '|',
  corners: ['+', '+', '+', '+'],
  joints: { ...Object.fromEntries(Array.from({ length: 16 }, (_, joint) => [joint, '+'])), 3: '-', 12: '|' },
  arrow: '>',
  circle: '@',
  up: '^',
  downMark: 'v',
};

interface Box {
  table: string;
  facts: SubsetGraph['tables'][number] | undefined;
  reference: SubsetReference | null;
  isSelected: boolean;
  column: number;
  strokes: Strokes;
  ellipsis: string;
}

interface Drawn {
  lines: DiagramSpan[][];
  /** Rows where references meet the boxes. */
  middles: { row: number; reference: SubsetReference | null }[];
}

/** As many as fit, the selected one among them. */
function inWindow(all: Neighbour[], index: number, rows: number) {
  const fits = Math.max(1, Math.floor(rows / BOX_LINES));
  const room = all.length > fits ? Math.max(1, Math.floor((rows - 2) / BOX_LINES)) : fits;
  const from = Math.max(0, Math.min(index - Math.floor(room / 2), all.length - room));
  const items = all.slice(from, from + room);
  return { items, from, below: all.length - from - items.length };
}

interface ColumnOptions {
  rows: number;
  column: number;
  /** Boxes that are out of view. */
  above: number;
  below: number;
  strokes: Strokes;
  ellipsis: string;
}

function columnOf(boxes: Box[], { rows, column, above, below, strokes, ellipsis }: ColumnOptions): Drawn {
  const more = (mark: string, count: number): DiagramSpan[] => [
    { text: fitCells(count > 0 ? ` ${mark} ${formatCount(count)} more` : '', column, { ellipsis }), tone: 'dim' },
  ];
  const scrolls = above + below > 0;
  const used = boxes.length * BOX_LINES + (scrolls ? 2 : 0);
  const start = Math.max(0, Math.floor((rows - used) / 2)) + (scrolls ? 1 : 0);
  const lines: DiagramSpan[][] = Array.from({ length: rows }, () => [{ text: ' '.repeat(column) }]);
  const middles: Drawn['middles'] = [];
  for (const [index, box] of boxes.entries()) {
    const top = start + index * BOX_LINES;
    for (const [at, line] of boxLines(box).entries()) lines[top + at] = line;
    middles.push({ row: top + 1, reference: box.reference });
  }
  if (scrolls) {
    lines[start - 1] = more(strokes.up, above);
    lines[Math.min(rows - 1, start + boxes.length * BOX_LINES)] = more(strokes.downMark, below);
  }
  return { lines, middles };
}

function boxLines({ table, facts, reference, isSelected, column, strokes, ellipsis }: Box): DiagramSpan[][] {
  const rule = facts?.rule ?? 'empty';
  const inner = column - 4;
  const border: Omit<DiagramSpan, 'text'> = isSelected ? { tone: 'accent', bold: true } : { tone: 'dim' };
  const [topLeft, topRight, bottomLeft, bottomRight] = strokes.corners;
  const across = strokes.across.repeat(column - 2);
  const circle = reference?.circular ? `${strokes.circle} ` : '';
  const count = `${circle}${rule} ${formatCount(facts?.rows ?? 0)}`;
  const line = (text: string, look: Omit<DiagramSpan, 'text'>): DiagramSpan[] => [
    { text: `${strokes.down} `, ...border },
    { text: fitCells(text, inner, { ellipsis }), ...look },
    { text: ` ${strokes.down}`, ...border },
  ];
  return [
    [{ text: `${topLeft}${across}${topRight}`, ...border }],
    line(table, { tone: RULE_TONES[rule], bold: isSelected || rule === 'target' }),
    line(count, { tone: circle === '' ? 'dim' : 'bad' }),
    [{ text: `${bottomLeft}${across}${bottomRight}`, ...border }],
  ];
}

const RULE_TONES: Record<SubsetGraph['tables'][number]['rule'], Tone> = {
  target: 'strong',
  child: 'plain',
  parent: 'plain',
  copy: 'good',
  excluded: 'caution',
  empty: 'dim',
};

interface Gap {
  middles: Drawn['middles'];
  centre: number;
  rows: number;
  strokes: Strokes;
  towards: 'focus' | 'neighbours';
}

/** The joint of a line from left to right that nothing joins. */
const STRAIGHT = 3;

/** The lines between a side and the focus: one from each neighbour to a common vertical one. */
function gapOf({ middles, centre, rows, strokes, towards }: Gap): DiagramSpan[][] {
  const all = middles.map(({ row }) => row);
  const [top, bottom] = [Math.min(centre, ...all), Math.max(centre, ...all)];
  const byRow = new Map(middles.map(({ row, reference }) => [row, reference]));
  const strongest = middles.find(({ reference }) => reference?.chosen)?.reference ?? middles[0]?.reference ?? null;
  return Array.from({ length: rows }, (_, row): DiagramSpan[] => {
    const reference = byRow.get(row);
    const isCentre = row === centre && middles.length > 0;
    if (middles.length === 0 || row < top || row > bottom) return [{ text: ' '.repeat(GAP) }];
    const towardsFocus = towards === 'focus';
    // The neighbours are left of the common line, and the focus right of it, or the reverse.
    const [onLeft, onRight] = towardsFocus ? [reference !== undefined, isCentre] : [isCentre, reference !== undefined];
    const joint = (onLeft ? 1 : 0) + (onRight ? 2 : 0) + (row > top ? 4 : 0) + (row < bottom ? 8 : 0);
    const [before, after] = towardsFocus ? [reference, strongest] : [strongest, reference];
    const part = (of: SubsetReference | null | undefined, text: string): DiagramSpan => ({
      text,
      ...lookOf(of ?? null),
    });
    const stroke = (of: SubsetReference | null | undefined): string =>
      of?.excluded ? strokes.broken : of?.chosen ? strokes.heavy : strokes.across;
    return [
      onLeft ? part(before, stroke(before).repeat(2)) : { text: '  ' },
      joint === STRAIGHT ? part(before, stroke(before)) : { text: strokes.joints[joint] ?? strokes.down, tone: 'dim' },
      onRight ? part(after, `${stroke(after)}${strokes.arrow}`) : { text: '  ' },
    ];
  });
}

function lookOf(reference: SubsetReference | null): Omit<DiagramSpan, 'text'> {
  if (reference?.circular) return { tone: 'bad', bold: reference.chosen };
  if (reference?.chosen) return { tone: 'accent', bold: true };
  return { tone: 'dim' };
}

function spokenLines(graph: SubsetGraph, place: DiagramPlace, { left, right, own }: Neighbourhood): DiagramSpan[][] {
  const ruleOf = new Map(graph.tables.map(({ table, rule }) => [table, rule]));
  const selected = selectedIn(graph, place).table;
  const named = (name: string, neighbours: Neighbour[]): DiagramSpan[][] =>
    neighbours.map(({ table, reference }) => [
      {
        text: `${table === selected ? '> ' : ''}${name} ${table}, ${ruleOf.get(table) ?? 'empty'}, ${referenceText(reference)}`,
      },
    ]);
  return [
    [{ text: `Table ${place.focus}, ${ruleOf.get(place.focus) ?? 'empty'}${own ? ', references itself' : ''}` }],
    ...named('Referenced by', left),
    ...named('References', right),
  ];
}

function referenceText({ names, chosen, circular, excluded }: SubsetReference): string {
  return [
    names.join(', '),
    ...(chosen ? ['rows come by it'] : []),
    ...(circular ? ['circular'] : []),
    ...(excluded ? ['excluded'] : []),
  ].join(', ');
}

/** About the selected table, below the diagram. */
export function diagramText(graph: SubsetGraph, place: DiagramPlace): string {
  const { table, reference } = selectedIn(graph, place);
  if (reference) return `${reference.from} → ${reference.to}: ${referenceText(reference)}`;
  const { left, right, own } = neighbourhood(graph, table);
  const parts = [
    `referenced by ${formatNumberOf(left.length, 'table')}`,
    `references ${formatNumberOf(right.length, 'table')}`,
    ...(own ? [`itself by ${referenceText(own)}`] : []),
  ];
  return `${table}: ${parts.join(', ')}`;
}
