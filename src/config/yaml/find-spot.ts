import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';
import type { KeyPath } from '../tree.ts';

export interface Spot {
  depth: number;
  node: unknown;
  /** The pair that contains it; `null` for an item of a list and for the whole document. */
  pair: Pair | null;
  /** The node that the alias refers to, or `node`. */
  meant: unknown;
}

/** Resolves paths through aliases and merge keys, as `readTree` does. Maps are indexed on first use. */
export function createSpotFinder(document: Document.Parsed | null): (path: KeyPath) => Spot {
  let anchors: Map<Alias, Node> | undefined;
  const indexes = new Map<unknown, Map<string, Pair>>();

  function meantBy(node: unknown): unknown {
    if (!document || !isAlias(node)) return node;
    anchors ??= anchorsOf(document);
    return anchors.get(node);
  }

  function pairsOf(map: unknown): Map<string, Pair> {
    const items = isMap(map) ? (map.items as Pair[]) : [];
    const index = indexes.get(map) ?? new Map(items.map((pair) => [keyOf(pair) ?? '', pair]));
    indexes.set(map, index);
    return index;
  }

  function merged(map: unknown, key: string): Pair | undefined {
    const source = pairsOf(map).get('<<')?.value;
    const sources = isSeq(source) ? source.items : [source];
    for (const one of sources.map(meantBy)) {
      const pair = pairsOf(one).get(key) ?? (isMap(one) ? merged(one, key) : undefined);
      if (pair) return pair;
    }
    return undefined;
  }

  return (path) => {
    const root = document?.contents ?? null;
    let spot: Spot = { depth: 0, node: root, pair: null, meant: meantBy(root) };
    for (const part of path) {
      const inside = spot.meant;
      const pair = pairsOf(inside).get(String(part)) ?? (isMap(inside) ? merged(inside, String(part)) : undefined);
      const node = isSeq(inside) ? inside.items[Number(part)] : pair?.value;
      if (!pair && node === undefined) break;
      spot = { depth: spot.depth + 1, node: node ?? null, pair: pair ?? null, meant: meantBy(node) ?? null };
    }
    return spot;
  };
}

/** Every alias with the last anchor of its name before it. */
function anchorsOf(document: Document.Parsed): Map<Alias, Node> {
  const named = new Map<string, Node>();
  const anchored = new Map<Alias, Node>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        const meant = named.get(node.source);
        if (meant) anchored.set(node, meant);
      } else if (node.anchor) {
        named.set(node.anchor, node);
      }
    },
  });
  return anchored;
}

export function isNothing(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

/** Returns the key as written: `0x10` and `1.0` are names. `null` for a key that is not text. */
export function keyOf({ key }: Pair<unknown, unknown>): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === 'string' ? key.value : (key.source ?? null);
}

export function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
