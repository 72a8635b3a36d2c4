import { type Canvas, createCanvas, type LineStyle, type Point } from '../../components/canvas.ts';
import type { Span } from '../../components/line.tsx';
import { ruleText } from '../../src/operations/subset/text.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { SubsetGraph, SubsetReference } from '../../src/results/subset-results.ts';
import { cellWidth, cut, cutMiddle, fitCells } from '../../src/text/text-width.ts';
import { BOX_HEIGHT, type DiagramColumn, diagramRows, type PlacedNode } from './layout.ts';
import { boxRows, chosenLook, type Look, MARGIN, type Names, POINTER, rootsInView, SIDES } from './look.ts';
import {
  briefRowsText,
  factsByTable,
  itselfText,
  marksOf,
  ROWS_HEADING,
  rowsText,
  shortNames,
  stepHeading,
} from './text.ts';
import { type DiagramNode, type DiagramTree, nodesOf } from './tree.ts';

interface DiagramOptions {
  graph: SubsetGraph;
  selected: DiagramNode;
  width: number;
  height: number;
  glyphs: Glyphs;
}

/** The canvas, and the places and the look of all tables. */
interface Diagram extends DiagramOptions, Look, Names {
  canvas: Canvas;
  columns: Map<number, DiagramColumn>;
  /** The line at which the middle is joined to its neighbours. */
  middle: number;
}

const HEADING = 1;

/** Draws the tables in columns by their distance, and the references between them as arrows. */
export function drawDiagram(tree: DiagramTree, options: DiagramOptions): Span[][] {
  const { graph, selected, width, height, glyphs } = options;
  const body = height - HEADING;
  const names: Names = { name: shortNames(graph), factsOf: factsByTable(graph) };
  const { look, columns: shown } = chosenLook(tree, { ...options, ...names, height: body });
  const columns = new Map(shown.map((column) => [column.step, column]));
  const boxHeight = tree.middle.itself ? BOX_HEIGHT + 1 : BOX_HEIGHT;
  const middle = Math.max(0, Math.floor((body - boxHeight) / 2) + 1);
  const canvas = createCanvas({ width, height, glyphs });
  const drawing: Diagram = { ...options, ...names, ...look, canvas, columns, middle };
  drawHeadings(tree, drawing);
  const isShown = (step: number): boolean => columns.has(step);
  const placed = rootsInView(tree, shown).flatMap((roots) =>
    diagramRows(roots, { height: body, middle, unit: look.unit, selected, isShown }),
  );
  const rows = new Map(placed.map(({ node, row }) => [node, row]));
  if (isShown(0)) rows.set(tree.middle, middle);
  for (const each of placed.toSorted((a, b) => strength(a) - strength(b))) drawReference(each, { drawing, rows, body });
  for (const [node, row] of rows) if (row !== null) drawTable(node, { drawing, row });
  return canvas.lines();
}

function drawHeadings(tree: DiagramTree, { canvas, columns, glyphs, unit, width: all }: Diagram): void {
  const counts = Map.groupBy(nodesOf(tree), ({ step }) => step);
  const starts = [...columns.values()].map(({ x }) => x);
  for (const { step, x, width } of columns.values()) {
    // It goes on over the gap behind a narrow column.
    const room = (starts.find((start) => start > x) ?? all) - x - POINTER - 1;
    const text = cut(stepHeading(step, counts.get(step)?.length ?? 0), room, glyphs.ellipsis);
    canvas.text({ x: x + POINTER, y: 0 }, [{ text, tone: 'dim' }]);
    const end = x + width - MARGIN - ROWS_HEADING.length;
    const isRoom = x + POINTER + cellWidth(text) < end;
    if (unit === 1 && step !== 0 && isRoom) canvas.text({ x: end, y: 0 }, [{ text: ROWS_HEADING, tone: 'dim' }]);
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
  drawing: Diagram;
  rows: Map<DiagramNode, number | null>;
  /** Lines below the headings. */
  body: number;
}

/** An arrow between a table and the next one towards the middle: it points to the referenced one. */
function drawReference({ node, row, isAbove }: PlacedNode, { drawing, rows, body }: ReferenceOptions): void {
  const { near, reference, step } = node;
  const { canvas, glyphs } = drawing;
  const from = near && rows.get(near);
  if (near === null || from == null || !reference) return;
  const style = styleOf(reference);
  const side = Math.sign(step);
  const [start, end] =
    side > 0
      ? [endOf(near, drawing), columnOf(node, drawing).x - 1]
      : [columnOf(near, drawing).x - 1, endOf(node, drawing)];
  const { x, width } = columnOf(near, drawing);
  // Level for all tables of a column.
  const trunk = side > 0 ? x + width + TRUNK : x - 1 - TRUNK;
  // The line goes on beyond the edge.
  const to = row ?? (isAbove ? -1 : body);
  const at = (x: number, y: number): Point => point(x, y + HEADING);
  const way = [at(start, from), at(trunk, from), at(trunk, to)];
  canvas.line(row === null ? way : [...way, at(end, to)], style);
  if (row === null) return;
  const { toLeft, toRight } = glyphs;
  const isOutward = reference.to === node.table;
  const { stroke: _, ...look } = style;
  canvas.text(at(end, to), [{ ...look, text: isOutward === side > 0 ? toRight : toLeft }]);
}

/** Cells from a table to the line that joins its neighbours. */
const TRUNK = 1;

function drawTable(node: DiagramNode, { drawing, row }: { drawing: Diagram; row: number }): void {
  if (node.near === null || drawing.unit === BOX_HEIGHT) drawBox(node, { drawing, row });
  else drawLine(node, { drawing, row });
}

function pointerOf(node: DiagramNode, { selected, glyphs }: Diagram): Span {
  return { text: node === selected ? `${glyphs.pointer} ` : '  ', tone: 'accent', bold: true };
}

/** The tables further out are not in view. */
function isEdge({ step, shown }: DiagramNode, { columns }: Diagram): boolean {
  return shown.length === 0 || !columns.has(step + Math.sign(step));
}

/** The name, and the rows behind or below it. */
function drawLine(node: DiagramNode, { drawing, row }: { drawing: Diagram; row: number }): void {
  const { factsOf, canvas, selected, unit } = drawing;
  const { x, width } = columnOf(node, drawing);
  const { name, behind, marks } = labelOf(node, drawing);
  const room = width - POINTER - MARGIN;
  const filled = behind === '' ? name : fitCells(name, room - cellWidth(behind + marks));
  canvas.text({ x, y: row + HEADING }, [
    pointerOf(node, drawing),
    { text: filled, tone: ruleText(factsOf(node.table).rule).tone, bold: node === selected },
    { text: behind, tone: 'dim' },
    { text: marks, tone: node.repeats || node.reference?.circular ? 'caution' : 'dim' },
  ]);
  if (unit !== 2) return;
  const facts = factsOf(node.table);
  const text = [rowsText(facts), briefRowsText(facts)].find((each) => cellWidth(each) <= room) ?? '';
  canvas.text({ x: x + POINTER, y: row + 1 + HEADING }, [{ text, tone: 'dim' }]);
}

function labelOf(node: DiagramNode, drawing: Diagram): { name: string; behind: string; marks: string } {
  const { factsOf, glyphs, unit, isBrief } = drawing;
  const facts = factsOf(node.table);
  const text = marksOf(node, { glyphs, isEdge: isEdge(node, drawing) });
  const marks = text === '' ? '' : ` ${text}`;
  const room = columnOf(node, drawing).width - POINTER - MARGIN - cellWidth(marks);
  const count = isBrief ? briefRowsText(facts) : rowsText(facts);
  const full = drawing.name(node.table);
  const least = cellWidth(count) + 2 + Math.min(LEAST_NAME, cellWidth(full));
  const behind = unit === 1 && least <= room ? `  ${count}` : '';
  return { name: cutMiddle(full, room - cellWidth(behind), glyphs.ellipsis), behind, marks };
}

function columnOf({ step }: DiagramNode, { columns }: Diagram): { x: number; width: number } {
  return columns.get(step) ?? { x: 0, width: 0 };
}

/** The cell behind a table, where a line to its neighbours at the right begins. */
function endOf(node: DiagramNode, drawing: Diagram): number {
  const { x, width } = columnOf(node, drawing);
  if (node.near === null || drawing.unit !== 2) return x + width;
  const { name, marks } = labelOf(node, drawing);
  return x + POINTER + cellWidth(name + marks) + MARGIN;
}

const LEAST_NAME = 8;

function drawBox(node: DiagramNode, { drawing, row }: { drawing: Diagram; row: number }): void {
  const { factsOf, glyphs, canvas, selected } = drawing;
  const { x, width } = columnOf(node, drawing);
  const facts = factsOf(node.table);
  const marks = node.near === null ? '' : marksOf(node, { glyphs, isEdge: isEdge(node, drawing) });
  const inner = width - SIDES;
  const room = inner - POINTER - (marks === '' ? 0 : 1 + cellWidth(marks));
  const name = cutMiddle(drawing.name(node.table), room, glyphs.ellipsis);
  const isSelected = node === selected;
  const lines: Span[][] = [
    [
      pointerOf(node, drawing),
      { text: name, tone: ruleText(facts.rule).tone, bold: isSelected || node.near === null },
      { text: ' '.repeat(Math.max(0, room - cellWidth(name))) },
      { text: marks === '' ? '' : ` ${marks}`, tone: 'caution' },
    ],
    [{ text: '  ' }, { text: cut(boxRows(facts, inner - POINTER), inner - POINTER, glyphs.ellipsis), tone: 'dim' }],
  ];
  if (node.near === null && node.itself) {
    lines.push([{ text: '  ' }, { text: cut(itselfText(glyphs), inner - POINTER, glyphs.ellipsis), tone: 'caution' }]);
  }
  const [top, bottom] = [row - 1 + HEADING, row + lines.length + HEADING];
  const [left, right] = [x, x + width - 1];
  const border: LineStyle = { tone: isSelected ? 'accent' : node.near === null ? 'plain' : 'border', bold: isSelected };
  const corners = [point(left, top), point(right, top), point(right, bottom), point(left, bottom), point(left, top)];
  canvas.line(corners, border);
  for (const [at, spans] of lines.entries()) canvas.text(point(left + 2, top + 1 + at), spans);
}

function point(x: number, y: number): Point {
  return { x, y };
}
