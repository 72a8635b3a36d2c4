import type { Shape, ValueShape } from './schema/shape.ts';
import { isTree, type KeyPath, type Tree } from './tree.ts';

export interface VisitedValue {
  path: KeyPath;
  shape: ValueShape;
  value: unknown;
  /** Puts another value in its place; `undefined` takes it out. */
  replace: (value: unknown) => void;
}

/** Visits every single value that is set in the objects and maps of a tree, with what the schema says of it. */
export function walkValues(tree: Tree, shape: Shape, visit: (visited: VisitedValue) => void): void {
  walk(tree, [], shape);

  function walk(value: unknown, path: KeyPath, here: Shape): void {
    if (!isTree(value) || (here.kind !== 'object' && here.kind !== 'map')) return;
    for (const [key, item] of Object.entries(value)) {
      const child = here.kind === 'object' ? here.keys.get(key) : here.of;
      if (!child) continue;
      if (child.kind !== 'value') walk(item, [...path, key], child);
      else visit({ path: [...path, key], shape: child, value: item, replace: (next) => put(value, key, next) });
    }
  }
}

function put(parent: Tree, key: string, value: unknown): void {
  if (value === undefined) delete parent[key];
  else parent[key] = value;
}
