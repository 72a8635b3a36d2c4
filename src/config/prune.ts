import { closest, distance } from 'fastest-levenshtein';
import type { Finding } from './finding.ts';
import type { Shape } from './schema/shape.ts';
import { createTree, dotted, isTree, type KeyPath, type Tree } from './tree.ts';

/**
 * Takes out what says nothing (a key without a value counts as not set) and what nobody knows. Unknown keys are
 * findings, with the key that was probably meant.
 */
export function pruneTree(tree: Tree, root: Shape): Finding[] {
  const findings: Finding[] = [];

  function prune(value: unknown, shape: Shape, path: KeyPath): void {
    if (shape.kind === 'list' && Array.isArray(value)) {
      for (const [index, item] of value.entries()) prune(item, shape.of, [...path, index]);
    } else if (shape.kind === 'map' && isTree(value)) {
      for (const [name, item] of Object.entries(value)) {
        value[name] = item ?? createTree();
        prune(value[name], shape.of, [...path, name]);
      }
    } else if (shape.kind === 'object' && isTree(value)) {
      for (const [key, item] of Object.entries(value)) {
        const known = shape.keys.get(key);
        if (!known) findings.push(unknownKey([...path, key], { keys: [...shape.keys.keys()], root }));
        if (!known || item === null) delete value[key];
        else prune(item, known, [...path, key]);
      }
    }
  }

  prune(tree, root, []);
  return findings;
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
