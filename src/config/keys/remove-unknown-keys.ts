import type { KeyProblem } from '../problems/key-problem.ts';
import { mismatch } from '../problems/mismatch.ts';
import type { Shape } from '../schema/shape.ts';
import { createTree, isTree, type KeyPath, type Tree } from '../tree.ts';
import { unknownKeys } from './unknown-keys.ts';

/**
 * Removes empty keys (a key without a value counts as not set) and unknown ones. Unknown keys are problems, with the
 * closest known key.
 */
export function removeUnknownKeys(tree: Tree, root: Shape): KeyProblem[] {
  const problems: KeyProblem[] = [];
  const unknownKey = unknownKeys(root);

  function visit(value: unknown, shape: Shape, path: KeyPath): void {
    if (shape.kind === 'list' && Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, shape.of, [...path, index]);
    } else if (shape.kind === 'map' && isTree(value)) {
      for (const [name, item] of Object.entries(value)) {
        value[name] = item ?? createTree();
        visitEntry(value, { key: name, shape: isReserved(name) ? undefined : shape.of, path });
      }
    } else if (shape.kind === 'object' && isTree(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (item === null && shape.keys.has(key)) delete value[key];
        else visitEntry(value, { key, shape: shape.keys.get(key), path, siblings: shape.keys });
      }
    }
  }

  function visitEntry(parent: Tree, { key, shape, path, siblings }: Entry): void {
    const here = [...path, key];
    const value = parent[key];
    if (!shape) {
      problems.push(siblings ? unknownKey(here, [...siblings.keys()]) : reservedName(here));
      delete parent[key];
    } else if ((shape.kind === 'object' || shape.kind === 'map') && !isTree(value)) {
      // valibot would accept a list as a map with numeric keys.
      problems.push(mismatch(here, shape, value));
      delete parent[key];
    } else {
      visit(value, shape, here);
    }
  }

  visit(tree, root, []);
  return problems;
}

interface Entry {
  key: string;
  shape: Shape | undefined;
  path: KeyPath;
  /** The known keys beside it; `undefined` in a map with free names. */
  siblings?: Map<string, Shape>;
}

/** Names that valibot drops silently, such as `__proto__`. */
function isReserved(name: string): boolean {
  return name in Object.prototype || name === 'prototype';
}

function reservedName(path: KeyPath): KeyProblem {
  return {
    path,
    code: 'invalid_name',
    at: 'key',
    message: { says: 'is a reserved name' },
    hint: 'Choose another name.',
  };
}
