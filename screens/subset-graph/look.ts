import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { cellWidth } from '../../src/text/text-width.ts';
import { BOX_HEIGHT, type DiagramColumn, diagramColumns, type NodeHeight, sideHeight } from './layout.ts';
import { briefRowsText, itselfText, marksOf, rowsText, type TableFacts } from './text.ts';
import { type DiagramNode, type DiagramTree, nodesOf } from './tree.ts';

/** The amount that is shown of each table. */
export interface Look {
  unit: NodeHeight;
  /** Rows in the subset only, not those of the source. */
  isBrief: boolean;
}

export interface Names {
  name: (table: string) => string;
  factsOf: (table: string) => TableFacts;
}

interface LookOptions extends Names {
  selected: DiagramNode;
  width: number;
  /** Lines for the tables. */
  height: number;
  glyphs: Glyphs;
}

const LOOKS: Look[] = [
  { unit: BOX_HEIGHT, isBrief: false },
  { unit: 2, isBrief: false },
  { unit: 1, isBrief: false },
];

const BRIEFEST: Look = { unit: 1, isBrief: true };

/** Returns the look with the most details that fits. */
export function chosenLook(tree: DiagramTree, options: LookOptions): { look: Look; columns: DiagramColumn[] } {
  const { selected, width, height } = options;
  const needsOf = (look: Look) => (node: DiagramNode) => neededWidth(node, { ...look, ...options });
  const columnsOf = (look: Look) => diagramColumns(tree, { width, selected: selected.step, needs: needsOf(look) });
  const isRoomFor = (look: Look): boolean => {
    const columns = columnsOf(look);
    if (look.unit !== 1) return fitsIn(tree, { columns, height, unit: look.unit });
    const widths = new Map(columns.map((column) => [column.step, column.width]));
    return nodesOf(tree).every((node) => needsOf(look)(node) <= (widths.get(node.step) ?? Number.POSITIVE_INFINITY));
  };
  const look = LOOKS.find(isRoomFor) ?? BRIEFEST;
  return { look, columns: columnsOf(look) };
}

/** Returns the tables of each side that are nearest to the middle among those in view. */
export function rootsInView(tree: DiagramTree, columns: DiagramColumn[]): DiagramNode[][] {
  const steps = columns.map(({ step }) => step);
  const nearest = [Math.max(...steps.filter((step) => step < 0)), Math.min(...steps.filter((step) => step > 0))];
  return nearest.map((step) => nodesOf(tree).filter((node) => node.step === step));
}

interface HeightOptions {
  columns: DiagramColumn[];
  height: number;
  unit: NodeHeight;
}

function fitsIn(tree: DiagramTree, { columns, height, unit }: HeightOptions): boolean {
  const steps = new Set(columns.map(({ step }) => step));
  const options = { unit, isShown: (step: number) => steps.has(step) };
  return rootsInView(tree, columns).every((roots) => sideHeight(roots, options) <= height);
}

/** Cells of the pointer before a name. */
export const POINTER = 2;
/** Cells of the sides of a box. */
export const SIDES = 4;
/** Blank cells behind a line of text. */
export const MARGIN = 1;

function neededWidth(
  node: DiagramNode,
  { glyphs, unit, isBrief, name, factsOf }: Look & Names & { glyphs: Glyphs },
): number {
  const facts = factsOf(node.table);
  const marks = marksOf(node, { glyphs, isEdge: true });
  const ofName = POINTER + cellWidth(name(node.table)) + (marks === '' ? 0 : 1 + cellWidth(marks));
  const count = cellWidth(isBrief ? briefRowsText(facts) : rowsText(facts));
  if (node.near !== null && unit !== BOX_HEIGHT) {
    return MARGIN + (unit === 1 ? ofName + 2 + count : Math.max(ofName, POINTER + count));
  }
  const own = node.near === null && node.itself ? cellWidth(itselfText(glyphs)) : 0;
  return SIDES + Math.max(ofName, POINTER + cellWidth(boxRows(facts)), POINTER + own);
}

/** The rule and the rows, or what of them has room. */
export function boxRows(facts: TableFacts, width = Number.POSITIVE_INFINITY): string {
  const rows = rowsText(facts);
  const all = rows === facts.rule ? rows : `${facts.rule}  ${rows}`;
  return [all, rows].find((text) => cellWidth(text) <= width) ?? briefRowsText(facts);
}
