import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { KeyPath } from '../tree.ts';

export interface FoundNode {
  key: unknown;
  value: unknown;
  found: boolean;
}

/** Finds nodes by path. Maps are indexed on first use, so that thousands of searches take linear time. */
export function createFinder(root: unknown): (path: KeyPath) => FoundNode {
  const indexes = new Map<YAMLMap, Map<string, Pair>>();

  function pairAt(map: YAMLMap, key: string): Pair | undefined {
    const index = indexes.get(map) ?? new Map(map.items.map((pair) => [keyOf(pair) ?? '', pair as Pair]));
    indexes.set(map, index);
    return index.get(key);
  }

  return (path) => {
    let key: unknown = null;
    let value: unknown = root;
    for (const part of path) {
      if (isSeq(value)) {
        const item = value.items[Number(part)];
        if (item === undefined) return { key, value, found: false };
        key = item;
        value = item;
      } else {
        const pair = isMap(value) ? pairAt(value, String(part)) : undefined;
        if (!pair) return { key, value, found: false };
        key = pair.key;
        value = pair.value ?? pair.key;
      }
    }
    return { key, value, found: true };
  };
}

/** Returns the key as written: `0x10` and `1.0` are names. `null` for a key that is not text. */
export function keyOf({ key }: Pair<unknown, unknown>): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === 'string' ? key.value : (key.source ?? null);
}

export function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
