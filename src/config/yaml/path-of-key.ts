import { isTree, type KeyPath, type Tree, valueAt } from '../tree.ts';

/** A dotted key as a path; names of the file are matched first, because they may contain dots. */
export function pathOfKey(written: Tree, key: string): KeyPath {
  const path: (string | number)[] = [];
  for (let rest = key; rest !== ''; ) {
    const [, index] = /^\[(\d+)\]/.exec(rest) ?? [];
    const inside = path.length === 0 ? written : valueAt(written, path);
    const names = isTree(inside) ? Object.keys(inside) : [];
    const name = names.find((one) => rest === one || /^[.[]/.test(rest.startsWith(one) ? rest.slice(one.length) : ''));
    // Text that only begins like an index stays whole.
    const part = name ?? /^[^.[]+/.exec(rest)?.[0] ?? rest;
    path.push(index === undefined ? part : Number(index));
    rest = rest.slice(index === undefined ? part.length : index.length + 2).replace(/^\./, '');
  }
  return path;
}
