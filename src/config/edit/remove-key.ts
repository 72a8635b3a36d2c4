import { isMap, type Pair } from 'yaml';
import { startOf } from '../yaml/find-node.ts';
import type { TextReplacement } from './edit.ts';
import { endOf, lineEnd, lineStart } from './text-lines.ts';

export interface KeyRemoval {
  pair: Pair;
  parent: unknown;
  isRoot: boolean;
}

export function removeKey(text: string, { pair, parent, isRoot }: KeyRemoval): TextReplacement | null {
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
  // The next key moves up behind the dash of the item.
  if (!isAlone && next) return { from: start, to: startOf(next.key), by: '' };
  // An empty map stays `{}`: a key without a value has another meaning.
  if (items.length === 1 && !isRoot) return { from: start, to: end, by: text[end - 1] === '\n' ? '{}\n' : '{}' };
  const from = lineStart(text, start);
  const endsLine = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1;
  if (endsLine > 0) return { from, to: endsLine, by: '' };
  // Keeps a file without a final line break so.
  return { from: from === 0 ? 0 : lineEnd(text, lineStart(text, from - 1)), to: text.length, by: '' };
}

function endOfPair({ key, value }: Pair): number {
  return Math.max(endOf(key), endOf(value));
}
