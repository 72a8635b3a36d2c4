/** Plain values as they came from the file and the environment, before anybody has checked them. */
export type Tree = Record<string, unknown>;

/** Where a value stands in the configuration: names of keys, and numbers for the items of lists. */
export type KeyPath = readonly (string | number)[];

/** As people read and write it: `targets.app.subset.subset_tables[0].table`. */
export function dotted(path: KeyPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** A tree without a prototype, so that no name in a file can reach JavaScript's own. */
export function createTree(): Tree {
  return Object.create(null);
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path; `undefined` when there is none. Names of JavaScript's own lead nowhere. */
export function valueAt(tree: Tree, path: KeyPath): unknown {
  let value: unknown = tree;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Tree)[part];
  }
  return value;
}

export function setValue(tree: Tree, path: KeyPath, value: unknown): void {
  const last = path.at(-1);
  if (last === undefined) return;
  let parent = tree;
  for (const part of path.slice(0, -1)) {
    const child = parent[part];
    const next = isTree(child) || Array.isArray(child) ? (child as Tree) : createTree();
    parent[part] = next;
    parent = next;
  }
  parent[last] = value;
}

/** Takes a value out; an item of a list leaves a hole, so that its neighbours keep their numbers. */
export function removeValue(tree: Tree, path: KeyPath): void {
  const last = path.at(-1);
  const parent = path.slice(0, -1).reduce<unknown>((value, part) => (value as Tree | undefined)?.[part], tree);
  if (last !== undefined && typeof parent === 'object' && parent !== null) delete (parent as Tree)[last];
}
