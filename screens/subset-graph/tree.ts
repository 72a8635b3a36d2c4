import type { SubsetGraph, SubsetReference } from '../../src/results/subset-results.ts';
import { emptyList, type Move, moveSelection } from '../../src/state/list.ts';

/** -1: the side of the referenced tables, at the left; 1: that of the tables that reference. */
export type Side = -1 | 1;

/** A table where the diagram shows it: one that is reached in two ways has two places. */
export interface DiagramNode {
  /** The way from the table in the middle. */
  id: string;
  table: string;
  /** References between it and the middle; negative at the left. */
  step: number;
  /** Leads to the table. */
  reference: SubsetReference | null;
  /** The next table towards the middle. */
  near: DiagramNode | null;
  /** The table references itself. */
  itself: SubsetReference | null;
  /** On the way from the middle already: not followed again. */
  repeats: boolean;
  /** Neighbours further out, whether they are shown or not. */
  further: number;
  shown: DiagramNode[];
}

export interface DiagramTree {
  middle: DiagramNode;
  left: DiagramNode[];
  right: DiagramNode[];
}

interface TreeOptions {
  graph: SubsetGraph;
  focus: string;
  /** Ids of places whose neighbours are shown beyond the usual steps. */
  open: string[];
}

/** Steps that are shown without being asked for. */
const STEPS = 2;

/**
 * The tables around one: at the left those that it references and that these reference, at the right those that reference
 * it. A table by which rows come is shown in either direction.
 */
export function diagramTree({ graph, focus, open }: TreeOptions): DiagramTree {
  const opened = new Set(open);
  const outgoing = Map.groupBy(graph.references, ({ from }) => from);
  const incoming = Map.groupBy(graph.references, ({ to }) => to);
  const selfReference = (table: string) => outgoing.get(table)?.find(({ to }) => to === table) ?? null;

  const neighbours = (table: string, { side, by }: { side: Side; by: SubsetReference | null }): SubsetReference[] => {
    const [along, against] = side < 0 ? [outgoing, incoming] : [incoming, outgoing];
    const isOther = (reference: SubsetReference) => reference !== by && reference.from !== reference.to;
    // From the middle each reference has its own side.
    const chosen = by === null ? [] : (against.get(table) ?? []).filter((reference) => reference.chosen);
    return [...(along.get(table) ?? []), ...chosen].filter(isOther).toSorted(chosenFirst(table));
  };

  const branch = (near: DiagramNode, side: Side): DiagramNode[] =>
    neighbours(near.table, { side, by: near.reference }).map((reference) => nodeOf(near, { reference, side }));

  const nodeOf = (near: DiagramNode, { reference, side }: { reference: SubsetReference; side: Side }): DiagramNode => {
    const table = otherEnd(reference, near.table);
    const repeats = wayTo(near).includes(table);
    const node: DiagramNode = {
      id: JSON.stringify([near.id, side, table, reference.from === table]),
      table,
      step: near.step + side,
      reference,
      near,
      itself: selfReference(table),
      repeats,
      further: repeats ? 0 : neighbours(table, { side, by: reference }).length,
      shown: [],
    };
    if (!repeats && (Math.abs(node.step) < STEPS || opened.has(node.id))) node.shown = branch(node, side);
    return node;
  };

  const middle: DiagramNode = {
    ...{ id: focus, table: focus, step: 0, reference: null, near: null, itself: selfReference(focus) },
    ...{ repeats: false, further: 0, shown: [] },
  };
  return { middle, left: branch(middle, -1), right: branch(middle, 1) };
}

function otherEnd({ from, to }: SubsetReference, table: string): string {
  return from === table ? to : from;
}

function chosenFirst(table: string) {
  return (a: SubsetReference, b: SubsetReference): number =>
    Number(b.chosen) - Number(a.chosen) || (otherEnd(a, table) < otherEnd(b, table) ? -1 : 1);
}

/** The tables from a place to the middle. */
function wayTo({ table, near }: DiagramNode): string[] {
  return near === null ? [table] : [table, ...wayTo(near)];
}

/** All places: the middle, then each side from above, tables further out after the one that leads to them. */
export function nodesOf({ middle, left, right }: DiagramTree): DiagramNode[] {
  const all = (nodes: DiagramNode[]): DiagramNode[] => nodes.flatMap((node) => [node, ...all(node.shown)]);
  return [middle, ...all(left), ...all(right)];
}

/** The middle where the place is not shown any more. */
export function nodeWithId(tree: DiagramTree, id: string | null): DiagramNode {
  return nodesOf(tree).find((node) => node.id === id) ?? tree.middle;
}

interface MoveOptions {
  selected: DiagramNode;
  move: Move;
  page: number;
  /** Drawn as lines instead of columns. */
  stacked: boolean;
}

/** Returns the id of the place above or below in its column, or among all lines. */
export function movedTo(tree: DiagramTree, { selected, move, page, stacked }: MoveOptions): string {
  const ids = nodesOf(tree).flatMap(({ id, step }) => (stacked || step === selected.step ? [id] : []));
  return moveSelection(emptyList, { ids, index: ids.indexOf(selected.id), move, page }).selected ?? selected.id;
}

/** Returns the place at the left or right; `opened` where its neighbours have to be shown first, `null` where nothing is. */
export function neighbourAt(
  { left, right }: DiagramTree,
  { selected, side }: { selected: DiagramNode; side: Side },
): { id: string } | { opened: string } | null {
  const { step, near, shown, further, id } = selected;
  if (near !== null && Math.sign(step) !== side) return { id: near.id };
  const [next] = near !== null ? shown : side < 0 ? left : right;
  if (next) return { id: next.id };
  return further > 0 ? { opened: id } : null;
}
