export type Tree = Record<string, unknown>;

export type KeyPath = readonly (string | number)[];

/** `targets.app.subset.subset_tables[0].table` */
export function dotted(path: KeyPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** Without a prototype, so that no name in a file reaches properties of Object.prototype. */
export function createTree(): Tree {
  return Object.create(null);
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own properties only: a map may contain the name of a property of Object.prototype. */
export function valueAt(tree: unknown, path: KeyPath): unknown {
  let value = tree;
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

/** Removes a value; an item of a list leaves a hole, so that its neighbours keep their index. */
export function removeValue(tree: Tree, path: KeyPath): void {
  const last = path.at(-1);
  const parent = path.slice(0, -1).reduce<unknown>((value, part) => (value as Tree | undefined)?.[part], tree);
  if (last !== undefined && typeof parent === 'object' && parent !== null) delete (parent as Tree)[last];
}
