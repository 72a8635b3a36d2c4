import type { SubsetGraph, SubsetReference } from '../results/subset-results.ts';
import { components } from './components.ts';
import type { Plan } from './plan.ts';

/** Tables and references of a plan, sorted by name. */
export function graphOf(target: string, plan: Plan): SubsetGraph {
  const { tables, relationships, cut } = plan.graph;
  const chosen = chosenReferences(plan);
  const circular = circularReferences([...tables.keys()], [...relationships, ...cut]);
  const references = new Map<string, SubsetReference>();
  for (const [list, excluded] of [
    [relationships, false],
    [cut, true],
  ] as const) {
    for (const { from, to, name } of list) {
      const key = pairOf(from, to);
      const known = references.get(key);
      if (known) {
        known.names.push(name);
        known.excluded &&= excluded;
      } else {
        const reference = { chosen: chosen.has(key), circular: circular.has(key), excluded };
        references.set(key, { from, to, names: [name], ...reference });
      }
    }
  }
  return {
    target,
    tables: [...tables.values()]
      .map(({ name, rows }) => ({ table: name, rule: plan.rules.get(name) ?? ('empty' as const), rows }))
      .sort((a, b) => compare(a.table, b.table)),
    references: [...references.values()].sort((a, b) => compare(a.from, b.from) || compare(a.to, b.to)),
  };
}

/** By code units: the same on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function pairOf(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

/** The steps of the paths by which the tables get their rows. */
function chosenReferences({ paths }: Plan): Set<string> {
  const chosen = new Set<string>();
  for (const path of paths.values()) {
    for (let at = 0; at + 2 < path.length; at += 2) {
      const [one = '', arrow, other = ''] = path.slice(at, at + 3);
      chosen.add(arrow === '→' ? pairOf(one, other) : pairOf(other, one));
    }
  }
  return chosen;
}

function circularReferences(tables: string[], references: { from: string; to: string }[]): Set<string> {
  const next = Map.groupBy(references, ({ from }) => from);
  const groups = components(tables, (table) => (next.get(table) ?? []).map(({ to }) => to));
  const groupOf = new Map(groups.flatMap((members, index) => members.map((member) => [member, index] as const)));
  return new Set(
    references.filter(({ from, to }) => groupOf.get(from) === groupOf.get(to)).map(({ from, to }) => pairOf(from, to)),
  );
}

/** A table of a drawing, in layers from left to right. */
export interface Placed {
  table: string;
  layer: number;
  /** Place in the layer, from 0. */
  order: number;
}

const SWEEPS = 8;

/**
 * Layers: a table stands left of those that it references, a circle of references in one layer. In a layer, tables are
 * near their neighbours (the mean of their places, in sweeps). Deterministic; tables without references come last.
 */
export function layers({ tables, references }: Pick<SubsetGraph, 'tables' | 'references'>): Placed[][] {
  const names = tables.map(({ table }) => table);
  const known = new Set(names);
  const edges = references.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const out = Map.groupBy(edges, ({ from }) => from);
  const into = Map.groupBy(edges, ({ to }) => to);
  const connected = names.filter((name) => out.has(name) || into.has(name));
  // A group comes after those that it references: the last group is referenced by none.
  const groups = components(connected, (table) => (out.get(table) ?? []).map(({ to }) => to));
  const layerOf = new Map<string, number>();
  for (const members of groups.toReversed()) {
    const inside = new Set(members);
    const before = members.flatMap((member) => (into.get(member) ?? []).map(({ from }) => from));
    const layer =
      Math.max(-1, ...before.filter((name) => !inside.has(name)).map((name) => layerOf.get(name) ?? -1)) + 1;
    for (const member of members) layerOf.set(member, layer);
  }
  const rows: string[][] = [];
  for (const name of connected) {
    const layer = layerOf.get(name) ?? 0;
    const row = rows[layer];
    if (row) row.push(name);
    else rows[layer] = [name];
  }
  const filled = Array.from(rows, (row) => row ?? []).filter((row) => row.length > 0);
  const neighbours = new Map(
    connected.map((name) => [
      name,
      [...(out.get(name) ?? []).map(({ to }) => to), ...(into.get(name) ?? []).map(({ from }) => from)],
    ]),
  );
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const places = placesOf(filled);
    for (const [index, row] of filled.entries()) {
      const ranked = row.map((name) => ({
        name,
        rank: meanPlace(neighbours.get(name) ?? [], places) ?? places.get(name) ?? 0,
      }));
      filled[index] = ranked.sort((a, b) => a.rank - b.rank || compare(a.name, b.name)).map(({ name }) => name);
    }
  }
  const alone = names.filter((name) => !out.has(name) && !into.has(name));
  const all = alone.length > 0 ? [...filled, ...inColumns(alone, filled)] : filled;
  return all.map((row, layer) => row.map((table, order) => ({ table, layer, order })));
}

/** Between 0 and 1, so that layers of different height compare. */
function placesOf(rows: string[][]): Map<string, number> {
  return new Map(rows.flatMap((row) => row.map((name, index) => [name, (index + 0.5) / row.length] as const)));
}

function meanPlace(names: string[], places: Map<string, number>): number | null {
  const found = names.map((name) => places.get(name)).filter((place) => place !== undefined);
  return found.length === 0 ? null : found.reduce((sum, place) => sum + place, 0) / found.length;
}

/** As high as the rest of the drawing. */
function inColumns(names: string[], rows: string[][]): string[][] {
  const height = Math.max(...rows.map((row) => row.length), Math.ceil(Math.sqrt(names.length)));
  return Array.from({ length: Math.ceil(names.length / height) }, (_, index) =>
    names.slice(index * height, (index + 1) * height),
  );
}
