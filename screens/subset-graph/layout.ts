import type { DiagramNode, DiagramTree } from './tree.ts';
import { nodesOf } from './tree.ts';

/** A line for each table, a second one for its rows, or a box around both. */
export type NodeHeight = 1 | 2 | typeof BOX_HEIGHT;

export const BOX_HEIGHT = 4;
/** Cells of a name that can still be told from others. */
const LEAST_WIDTH = 18;
const LEAST_GAP = 5;
const MOST_GAP = 14;
/** In a wide window the table in the middle is as wide as it needs, up to this. */
const MOST_OF_MIDDLE = 40;
const WIDE = 100;

export interface DiagramColumn {
  step: number;
  x: number;
  width: number;
}

interface ColumnOptions {
  width: number;
  /** Step of the selected table, which is in view. */
  selected: number;
  /** Cells that a table needs. */
  needs: (node: DiagramNode) => number;
}

/** The columns in view: as many around the selected table as are readable, as wide as they need. */
export function diagramColumns(tree: DiagramTree, { width, selected, needs }: ColumnOptions): DiagramColumn[] {
  const nodes = Map.groupBy(nodesOf(tree), ({ step }) => step);
  const steps = [...nodes.keys()].sort((a, b) => a - b);
  const needed = new Map([...nodes].map(([step, all]) => [step, Math.max(...all.map(needs))]));
  const windows = steps.map((_, fewer) => windowOf(steps, { count: steps.length - fewer, selected }));
  const widthOf = (step: number, most: number): number =>
    Math.min(needed.get(step) ?? 0, step === 0 && width >= WIDE ? Math.max(most, MOST_OF_MIDDLE) : most);
  const fits = (shown: number[], most: number): boolean =>
    shown.reduce((sum, step) => sum + widthOf(step, most) + LEAST_GAP, -LEAST_GAP) <= width;
  const shown = windows.find((each) => fits(each, LEAST_WIDTH)) ?? [selected];
  let most = LEAST_WIDTH;
  while (most < width && fits(shown, most + 1)) most += 1;
  const widths = shown.map((step) => widthOf(step, most));
  const used = widths.reduce((sum, each) => sum + each, 0);
  const gaps = Math.max(1, shown.length - 1);
  const gap = Math.min(MOST_GAP, Math.floor((width - used) / gaps));
  let x = Math.max(0, Math.floor((width - used - gap * (shown.length - 1)) / 2));
  return shown.map((step, at) => {
    const column = { step, x, width: widths[at] ?? 0 };
    x += column.width + gap;
    return column;
  });
}

function windowOf(steps: number[], { count, selected }: { count: number; selected: number }): number[] {
  const at = steps.indexOf(selected) - Math.floor((count - 1) / 2);
  const first = Math.max(0, Math.min(at, steps.length - count));
  return steps.slice(first, first + count);
}

/** A table in its column. */
export interface PlacedNode {
  node: DiagramNode;
  /** The line at which it is joined to others; `null` where it is scrolled out of view, above or below. */
  row: number | null;
  isAbove: boolean;
}

interface RowsOptions {
  /** Lines in view. */
  height: number;
  /** The line of the table in the middle. */
  middle: number;
  unit: NodeHeight;
  selected: DiagramNode;
  isShown: (step: number) => boolean;
}

interface Block {
  node: DiagramNode;
  top: number;
  height: number;
}

/** Places the tables of one side: each beside the middle of those that it leads to, as far as these are in view. */
export function diagramRows(roots: DiagramNode[], options: RowsOptions): PlacedNode[] {
  const { height, unit } = options;
  const { blocks, total } = blocksOf(roots, options);
  const from = scrolledTo(blocks, { ...options, total });
  return blocks.map(({ node, top, height: ofBlock }) => {
    const first = Math.max(top, from);
    const last = Math.min(top + ofBlock, from + height) - unit;
    const isAbove = top < from;
    if (last < first) return { node, row: null, isAbove };
    const wanted = top + Math.floor((ofBlock - unit) / 2);
    return { node, row: Math.max(first, Math.min(wanted, last)) - from + joint(unit), isAbove };
  });
}

/** Lines of all tables; none when they are not in view. */
export function sideHeight(roots: DiagramNode[], options: Pick<RowsOptions, 'unit' | 'isShown'>): number {
  return blocksOf(roots, options).total;
}

/** The line of a table's name. */
function joint(unit: NodeHeight): number {
  return unit === BOX_HEIGHT ? 1 : 0;
}

function blocksOf(roots: DiagramNode[], { unit, isShown }: Pick<RowsOptions, 'unit' | 'isShown'>) {
  const blocks: Block[] = [];
  const place = (node: DiagramNode, top: number): number => {
    const block = { node, top, height: unit as number };
    blocks.push(block);
    const shown = isShown(node.step + Math.sign(node.step)) ? node.shown : [];
    const inner = shown.reduce((sum, next) => sum + place(next, top + sum), 0);
    block.height = Math.max(unit, inner);
    return block.height;
  };
  const total = roots.reduce((sum, root) => sum + place(root, sum), 0);
  return { blocks, total };
}

/** Level with the middle, or around the selected table where there are more than fit. */
function scrolledTo(
  blocks: Block[],
  { height, middle, unit, selected, total }: RowsOptions & { total: number },
): number {
  const own = blocks.find(({ node }) => node === selected);
  const of = total <= height ? { top: 0, height: total } : (own ?? { top: 0, height: 0 });
  const wanted = of.top + Math.floor((of.height - unit) / 2) + joint(unit) - middle;
  return Math.max(Math.min(0, total - height), Math.min(wanted, Math.max(0, total - height)));
}
