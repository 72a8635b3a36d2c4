import type { Shape } from '../schema/shape.ts';
import { createTree, isTree, type Tree } from '../tree.ts';

/**
 * The part of a configuration that an answer is about: everything as written, keys that the schema does not know
 * included, except harmless keys, values equal to their default and empty sections.
 */
export function coveredPart(tree: Tree, shape: Shape): Tree {
  return (cover(tree, shape) as Tree | undefined) ?? createTree();
}

function cover(value: unknown, shape: Shape | null): unknown {
  if (shape?.traits.harmless || value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const of = shape?.kind === 'list' ? shape.of : null;
    return value.length === 0 ? undefined : value.map((item) => cover(item, of) ?? null);
  }
  if (!isTree(value)) return shape?.kind === 'value' && value === shape.default ? undefined : value;
  const covered = createTree();
  for (const key of Object.keys(value).sort()) {
    const inner = cover(value[key], childOf(shape, key));
    if (inner !== undefined) covered[key] = inner;
  }
  return Object.keys(covered).length === 0 ? undefined : covered;
}

function childOf(shape: Shape | null, key: string): Shape | null {
  if (shape?.kind === 'object') return shape.keys.get(key) ?? null;
  return shape?.kind === 'map' ? shape.of : null;
}
