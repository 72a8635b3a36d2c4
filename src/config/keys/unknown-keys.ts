import { nearest } from '../../text/nearest.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import type { Shape } from '../schema/shape.ts';
import { dotted, type KeyPath } from '../tree.ts';
import { replacementOf } from './old-keys.ts';

export function unknownKeys(root: Shape): (path: KeyPath, known: string[]) => KeyProblem {
  const guess = keyGuesses(root);

  function hintFor(key: string, known: string[]): string {
    const { sibling, elsewhere } = guess(key, known);
    if (sibling !== null) return `Did you mean ${sibling}?`;
    if (elsewhere.length > 0) return `It belongs at ${elsewhere.join(' or ')}.`;
    return `Known here: ${known.join(', ')}.`;
  }

  return (path, known) => {
    const key = String(path.at(-1));
    const shown = dotted([...path.slice(0, -1), firstWord(key)]);
    const replacement = replacementOf(path);
    const hint = replacement === null ? hintFor(key, known) : `Write ${replacement}.`;
    return { path, code: 'unknown_key', at: 'key', message: `unknown key ${shown}`, hint };
  };
}

export interface KeyGuess {
  sibling: string | null;
  /** Other paths with this key: `targets.<name>.snapshot.src_url`. */
  elsewhere: string[];
}

export function keyGuesses(root: Shape): (key: string, known: string[]) => KeyGuess {
  let places: Map<string, string[]> | undefined;
  return (key, known) => {
    const wanted = key.slice(0, 64).toLowerCase().replaceAll('-', '_');
    const sibling = nearest(wanted, known);
    if (sibling !== null) return { sibling, elsewhere: [] };
    // The schema is walked once for thousands of unknown keys.
    places ??= placesByKey(root);
    return { sibling, elsewhere: places.get(wanted) ?? [] };
  };
}

/** A key contains no blanks. After a forgotten colon follows a value, which may be a password. */
function firstWord(key: string): string {
  const [word = ''] = key.split(/[\s:=]/, 1);
  return word.length < key.length || word.length > 64 ? `${word.slice(0, 64)}…` : word;
}

function placesByKey(root: Shape): Map<string, string[]> {
  const places = new Map<string, string[]>();
  function visit(shape: Shape, path: string): void {
    if (shape.kind === 'map') visit(shape.of, `${path}.<name>`);
    if (shape.kind === 'list') visit(shape.of, `${path}[]`);
    if (shape.kind !== 'object') return;
    for (const [key, child] of shape.keys) {
      const place = path === '' ? key : `${path}.${key}`;
      places.set(key, [...(places.get(key) ?? []), place]);
      visit(child, place);
    }
  }
  visit(root, '');
  return places;
}
