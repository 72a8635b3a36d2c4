import { closest, distance } from 'fastest-levenshtein';
import type { Finding } from './finding.ts';
import type { Shape } from './schema/shape.ts';
import { createTree, dotted, isTree, type KeyPath, removeValue, setValue, type Tree } from './tree.ts';

/** Names that valibot leaves out of a map without a word: JavaScript keeps them for its own. */
const RESERVED = ['__proto__', 'prototype', 'constructor'];

/**
 * Takes what valibot would not tell of, or not in our words, out of a tree: unknown keys, with the key that was
 * probably meant, reserved names, and lists in the place of maps. A key without a value counts as not set, and goes too.
 */
export function checkKeys(tree: Tree, root: Shape): Finding[] {
  const findings: Finding[] = [];

  /** Whether the value may stay. */
  function check(value: unknown, shape: Shape, path: KeyPath): boolean {
    switch (shape.kind) {
      case 'object':
        return isMap(value, path) && checkObject(value, shape.keys, path);
      case 'map':
        return isMap(value, path) && checkMap(value, shape.of, path);
      case 'list':
        if (Array.isArray(value)) for (const [index, item] of value.entries()) check(item, shape.of, [...path, index]);
        return true;
      case 'value':
        return true;
      default:
        return shape satisfies never;
    }
  }

  /** Anything but a list is left to valibot, which takes a list for a map. */
  function isMap(value: unknown, path: KeyPath): boolean {
    if (!Array.isArray(value)) return true;
    const message = { says: 'must be a map of keys, found a list' };
    findings.push({ path, code: 'wrong_type', message, hint: 'Write "key: value" lines, without dashes.' });
    return false;
  }

  function checkObject(value: unknown, keys: Map<string, Shape>, path: KeyPath): boolean {
    for (const [key, item] of isTree(value) ? Object.entries(value) : []) {
      const known = keys.get(key);
      const here = [...path, key];
      if (!known) findings.push(unknownKey(here, { keys: [...keys.keys()], root }));
      if (!known || item === null || !check(item, known, here)) removeValue(tree, here);
    }
    return true;
  }

  function checkMap(value: unknown, of: Shape, path: KeyPath): boolean {
    for (const [name, item] of isTree(value) ? Object.entries(value) : []) {
      const here = [...path, name];
      if (RESERVED.includes(name)) findings.push(reservedName(here));
      else if (item === null) setValue(tree, here, createTree());
      if (RESERVED.includes(name) || !check(item, of, here)) removeValue(tree, here);
    }
    return true;
  }

  check(tree, root, []);
  return findings;
}

function reservedName(path: KeyPath): Finding {
  const message = `${path.at(-1)} is reserved and cannot be a name`;
  return { path, code: 'invalid_name', at: 'key', message, hint: 'Choose another name.' };
}

function unknownKey(path: KeyPath, { keys, root }: { keys: string[]; root: Shape }): Finding {
  const key = String(path.at(-1));
  return {
    path,
    code: 'unknown_key',
    at: 'key',
    message: `unknown key ${dotted(path)}`,
    hint: suggest(key, keys, root),
  };
}

function suggest(key: string, keys: string[], root: Shape): string {
  const wanted = key.slice(0, 64).toLowerCase().replaceAll('-', '_');
  const nearest = closest(wanted, keys);
  if (distance(wanted, nearest) <= Math.max(2, nearest.length / 3)) return `Did you mean ${nearest}?`;
  const places = placesOf(wanted, root, '');
  if (places.length > 0) return `It belongs at ${places.join(' or ')}.`;
  return `Known here: ${keys.join(', ')}.`;
}

/** Everywhere that a key is known. */
function placesOf(key: string, shape: Shape, path: string): string[] {
  if (shape.kind === 'map') return placesOf(key, shape.of, `${path}.<name>`);
  if (shape.kind === 'list') return placesOf(key, shape.of, `${path}[]`);
  if (shape.kind !== 'object') return [];
  return [...shape.keys].flatMap(([name, child]) => {
    const place = path === '' ? name : `${path}.${name}`;
    return [...(name === key ? [place] : []), ...placesOf(key, child, place)];
  });
}
