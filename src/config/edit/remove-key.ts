import { isMap, type Pair } from 'yaml';
import type { Replacement } from './edit.ts';
import { endOf, lineEnd, lineStart, startOf } from './text-lines.ts';

export interface Removal {
  pair: Pair;
  /** The map that the key stands in. */
  parent: unknown;
  /** Whether that is the whole file. */
  isRoot: boolean;
}

/** Takes a key with its value out of the map that it stands in. */
export function removeKey(text: string, { pair, parent, isRoot }: Removal): Replacement | null {
  if (!isMap(parent)) return null;
  const items = parent.items as Pair[];
  const index = items.indexOf(pair);
  const [previous, next] = [items[index - 1], items[index + 1]];
  const [start, end] = [startOf(pair.key), endOfPair(pair)];
  if (parent.flow) {
    if (next) return { from: start, to: startOf(next.key), by: '' };
    return { from: previous ? endOfPair(previous) : start, to: end, by: '' };
  }
  const isAlone = text.slice(lineStart(text, start), start).trim() === '';
  // Behind the dash of an item the next key moves up.
  if (!isAlone && next) return { from: start, to: startOf(next.key), by: '' };
  // What is left of a map without keys is `{}`: a key without a value would be another thing.
  if (items.length === 1 && !isRoot) return { from: start, to: end, by: text[end - 1] === '\n' ? '{}\n' : '{}' };
  const from = lineStart(text, start);
  const endsLine = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1;
  if (endsLine > 0) return { from, to: endsLine, by: '' };
  // A file without a last line break stays one.
  return { from: from === 0 ? 0 : lineEnd(text, lineStart(text, from - 1)), to: text.length, by: '' };
}

function endOfPair({ key, value }: Pair): number {
  return Math.max(endOf(key), endOf(value));
}
