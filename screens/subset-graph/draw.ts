import { type Canvas, createCanvas, type LineStyle, type Point } from '../../components/canvas.ts';
import type { Span } from '../../components/line.tsx';
import { ruleText } from '../../src/operations/subset/text.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { SubsetGraph, SubsetReference } from '../../src/results/subset-results.ts';
import { cellWidth, cut, cutMiddle } from '../../src/text/text-width.ts';
import {
  BOX_HEIGHT,
  type DiagramColumn,
  diagramColumns,
  diagramRows,
  type NodeHeight,
  type PlacedNode,
  sideHeight,
} from './layout.ts';
import { briefRowsText, factsOf, itselfText, marksOf, rowsText, shortNames, stepHeading } from './text.ts';
import { type DiagramNode, type DiagramTree, nodesOf } from './tree.ts';

interface DiagramOptions {
  graph: SubsetGraph;
  selected: DiagramNode;
  width: number;
  height: number;
  glyphs: Glyphs;
}

/** What all parts of a drawing share. */
interface Drawing extends DiagramOptions {
  canvas: Canvas;
  columns: Map<number, DiagramColumn>;
  name: (table: string) => string;
  unit: NodeHeight;
  /** The line at which the middle is joined to its neighbours. */
  middle: number;
}

const HEADING = 1;

/** Draws the tables in columns by their distance, and the references between them as arrows. */
export function drawDiagram(tree: DiagramTree, options: DiagramOptions): Span[][] {
  const { graph, selected, width, height, glyphs } = options;
  const body = height - HEADING;
  const name = shortNames(graph);
  const needs = (unit: NodeHeight) => (node: DiagramNode) => neededWidth(node, { graph, glyphs, unit, name });
  const boxed = diagramColumns(tree, { width, selected: selected.step, needs: needs(BOX_HEIGHT) });
  const unit = fitsBoxed(tree, boxed, body) ? BOX_HEIGHT : 1;
  const shown = unit === 1 ? diagramColumns(tree, { width, selected: selected.step, needs: needs(1) }) : boxed;
  const columns = new Map(shown.map((column) => [column.step, column]));
  const boxHeight = tree.middle.itself ? BOX_HEIGHT + 1 : BOX_HEIGHT;
  const middle = Math.max(0, Math.floor((body - boxHeight) / 2) + 1);
  const canvas = createCanvas({ width, height, glyphs });
  const drawing: Drawing = { ...options, canvas, columns, name, unit, middle };
  drawHeadings(tree, drawing);
  const isShown = (step: number): boolean => columns.has(step);
  const placed = rootsInView(tree, shown).flatMap((roots) =>
    diagramRows(roots, { height: body, middle, unit, selected, isShown }),
  );
  const rows = new Map(placed.map(({ node, row }) => [node, row]));
  if (isShown(0)) rows.set(tree.middle, middle);
  for (const each of placed.toSorted((a, b) => strength(a) - strength(b))) drawReference(each, { drawing, rows, body });
  for (const [node, row] of rows) if (row !== null) drawTable(node, { drawing, row });
  return canvas.lines();
}

/** The tables next to the middle, or those at the near end of what is in view. */
function rootsInView(tree: DiagramTree, columns: DiagramColumn[]): DiagramNode[][] {
  const steps = columns.map(({ step }) => step);
  const nearest = [Math.max(...steps.filter((step) => step < 0)), Math.min(...steps.filter((step) => step > 0))];
  return nearest.map((step) => nodesOf(tree).filter((node) => node.step === step));
}

function fitsBoxed(tree: DiagramTree, columns: DiagramColumn[], height: number): boolean {
  const steps = new Set(columns.map(({ step }) => step));
  const options = { unit: BOX_HEIGHT, isShown: (step: number) => steps.has(step) } as const;
  return rootsInView(tree, columns).every((roots) => sideHeight(roots, options) <= height);
}

interface WidthOptions {
  graph: SubsetGraph;
  glyphs: Glyphs;
  unit: NodeHeight;
  name: (table: string) => string;
}

/** Cells of the pointer before a name. */
const POINTER = 2;
/** Cells of the sides of a box. */
const SIDES = 4;

function neededWidth(node: DiagramNode, { graph, glyphs, unit, name }: WidthOptions): number {
  const facts = factsOf(graph, node.table);
  const marks = marksOf(node, { glyphs, isEdge: true });
  const ofName = POINTER + cellWidth(name(node.table)) + (marks === '' ? 0 : 1 + cellWidth(marks));
  if (unit === 1 && node.near !== null) return ofName + 2 + cellWidth(rowsText(facts));
  const own = node.near === null && node.itself ? cellWidth(itselfText(glyphs)) : 0;
  return SIDES + Math.max(ofName, POINTER + cellWidth(boxRows(node, graph)), POINTER + own);
}

function boxRows({ table }: DiagramNode, graph: SubsetGraph): string {
  const facts = factsOf(graph, table);
  const rows = rowsText(facts);
  return rows === facts.rule ? rows : `${facts.rule}  ${rows}`;
}

function drawHeadings(tree: DiagramTree, { canvas, columns, glyphs }: Drawing): void {
  const counts = Map.groupBy(nodesOf(tree), ({ step }) => step);
  for (const { step, x, width } of columns.values()) {
    const text = cut(stepHeading(step, counts.get(step)?.length ?? 0), width - POINTER, glyphs.ellipsis);
    canvas.text({ x: x + POINTER, y: 0 }, [{ text, tone: 'dim' }]);
  }
}

/** References by which rows come are drawn over others. */
function strength({ node: { reference } }: PlacedNode): number {
  return reference?.chosen ? 2 : reference?.circular ? 1 : 0;
}

function styleOf({ chosen, circular, excluded }: SubsetReference): LineStyle {
  if (chosen) return { tone: 'accent', bold: true, stroke: 'heavy' };
  return { tone: circular ? 'caution' : 'dim', stroke: excluded ? 'broken' : undefined };
}

interface ReferenceOptions {
  drawing: Drawing;
  rows: Map<DiagramNode, number | null>;
  /** Lines below the headings. */
  body: number;
}

/** An arrow between a table and the next one towards the middle: it points to the referenced one. */
function drawReference({ node, row, isAbove }: PlacedNode, { drawing, rows, body }: ReferenceOptions): void {
  const { near, reference, step } = node;
  const { canvas, columns, glyphs } = drawing;
  const own = columns.get(step);
  const other = near && columns.get(near.step);
  const from = near && rows.get(near);
  if (!own || !other || from == null || !reference) return;
  const style = styleOf(reference);
  const side = Math.sign(step);
  const [start, end] = side > 0 ? [other.x + other.width, own.x - 1] : [other.x - 1, own.x + own.width];
  const trunk = start + side * TRUNK;
  const to = row ?? (isAbove ? 0 : body - 1);
  const at = (x: number, y: number): Point => ({ x, y: y + HEADING });
  const way = [at(start, from), at(trunk, from), at(trunk, to)];
  canvas.line(row === null ? way : [...way, at(end, to)], style);
  if (row === null) return;
  const { left, right } = glyphs.heads;
  const isOutward = reference.to === node.table;
  const { stroke: _, ...look } = style;
  canvas.text(at(end, to), [{ ...look, text: isOutward === side > 0 ? right : left }]);
}

/** Cells from a table to the line that joins its neighbours. */
const TRUNK = 1;

function drawTable(node: DiagramNode, { drawing, row }: { drawing: Drawing; row: number }): void {
  if (node.near === null || drawing.unit !== 1) drawBox(node, { drawing, row });
  else drawLine(node, { drawing, row });
}

function pointerOf(node: DiagramNode, { selected, glyphs }: Drawing): Span {
  return { text: node === selected ? `${glyphs.pointer} ` : '  ', tone: 'accent', bold: true };
}

/** The tables further out are not in view. */
function isEdge({ step, shown }: DiagramNode, { columns }: Drawing): boolean {
  return shown.length === 0 || !columns.has(step + Math.sign(step));
}

function drawLine(node: DiagramNode, { drawing, row }: { drawing: Drawing; row: number }): void {
  const { graph, glyphs, columns, canvas, selected } = drawing;
  const { x, width } = columns.get(node.step) ?? { x: 0, width: 0 };
  const facts = factsOf(graph, node.table);
  const marks = marksOf(node, { glyphs, isEdge: isEdge(node, drawing) });
  const ofMarks = marks === '' ? '' : ` ${marks}`;
  const room = width - POINTER - cellWidth(ofMarks);
  const full = drawing.name(node.table);
  const long = rowsText(facts);
  const count = cellWidth(full) + 2 + cellWidth(long) <= room ? long : briefRowsText(facts);
  const isRoom = cellWidth(count) + 2 + LEAST_NAME <= room;
  const shown = isRoom ? count : '';
  const name = cutMiddle(full, room - (isRoom ? cellWidth(count) + 2 : 0), glyphs.ellipsis);
  const blank = ' '.repeat(Math.max(0, room - cellWidth(name) - cellWidth(shown)));
  canvas.text({ x, y: row + HEADING }, [
    pointerOf(node, drawing),
    { text: name, tone: ruleText(facts.rule).tone, bold: node === selected },
    { text: blank },
    { text: shown, tone: 'dim' },
    { text: ofMarks, tone: node.repeats || node.reference?.circular ? 'caution' : 'dim' },
  ]);
}

const LEAST_NAME = 8;

function drawBox(node: DiagramNode, { drawing, row }: { drawing: Drawing; row: number }): void {
  const { graph, glyphs, columns, canvas, selected } = drawing;
  const { x, width } = columns.get(node.step) ?? { x: 0, width: 0 };
  const { rule } = factsOf(graph, node.table);
  const marks = node.near === null ? '' : marksOf(node, { glyphs, isEdge: isEdge(node, drawing) });
  const inner = width - SIDES;
  const room = inner - POINTER - (marks === '' ? 0 : 1 + cellWidth(marks));
  const name = cutMiddle(drawing.name(node.table), room, glyphs.ellipsis);
  const isSelected = node === selected;
  const lines: Span[][] = [
    [
      pointerOf(node, drawing),
      { text: name, tone: ruleText(rule).tone, bold: isSelected || node.near === null },
      { text: ' '.repeat(Math.max(0, room - cellWidth(name))) },
      { text: marks === '' ? '' : ` ${marks}`, tone: 'caution' },
    ],
    [{ text: '  ' }, { text: cut(boxRows(node, graph), inner - POINTER, glyphs.ellipsis), tone: 'dim' }],
  ];
  if (node.near === null && node.itself) {
    lines.push([{ text: '  ' }, { text: cut(itselfText(glyphs), inner - POINTER, glyphs.ellipsis), tone: 'caution' }]);
  }
  const [top, bottom] = [row - 1 + HEADING, row + lines.length + HEADING];
  const [left, right] = [x, x + width - 1];
  const border: LineStyle = { tone: isSelected ? 'accent' : node.near === null ? 'plain' : 'border', bold: isSelected };
  canvas.line(
    [
      ...[{ x: left, y: top }, { x: right, y: top }, { x: right, y: bottom }],
      ...[{ x: left, y: bottom }, { x: left, y: top }],
    ],
    border,
  );
  for (const [at, spans] of lines.entries()) canvas.text({ x: left + 2, y: top + 1 + at }, spans);
}
