import { isMap, isPair, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { startOf } from '../yaml/find-spot.ts';
import { itemLines, writeScalar } from '../yaml/yaml-text.ts';
import type { NewItem, TextReplacement } from './change.ts';
import { columnOf, endOf, lineEnd, lineStart, newlineOf } from './text-lines.ts';

type Collection = YAMLMap | YAMLSeq;

/** Adds an item to a list; `null` where its dash cannot be found. */
export function appendItem(text: string, list: YAMLSeq, item: NewItem): TextReplacement | null {
  if (list.flow) return insertInFlow(text, list, writeScalar(item));
  const last = extentOf(text, list, list.items.length - 1);
  if (!last) return null;
  return insertLines(text, last.end, itemLines(item, columnOf(text, last.start)));
}

export function insertInFlow(text: string, collection: Collection, written: string): TextReplacement {
  const last = extentOf(text, collection, collection.items.length - 1);
  if (last) return { from: last.end, to: last.end, by: `, ${written}` };
  const at = startOf(collection) + 1;
  const spaced = text[at] === '}' ? ` ${written} ` : ` ${written}`;
  return { from: at, to: at, by: isMap(collection) ? spaced : written };
}

/** Inserts after a line; keeps a file without a final line break so. */
export function insertLines(text: string, behind: number, lines: string[]): TextReplacement {
  const newline = newlineOf(text);
  const startsLine = behind === 0 || text[behind - 1] === '\n';
  const at = startsLine ? behind : lineEnd(text, behind);
  return { from: at, to: at, by: startsLine ? lines.join(newline) + newline : newline + lines.join(newline) };
}

export function removeKey(
  text: string,
  map: YAMLMap,
  { pair, isRoot }: { pair: Pair; isRoot: boolean },
): TextReplacement | null {
  if (map.flow || isRoot || map.items.length > 1) return removeEntry(text, map, map.items.indexOf(pair));
  // An empty map stays `{}`: a key without a value has another meaning.
  const end = endOf(pair);
  return { from: startOf(pair.key), to: end, by: text[end - 1] === '\n' ? '{}\n' : '{}' };
}

/** Removes a key of a map or an item of a list; `null` where its dash cannot be found. */
export function removeEntry(text: string, collection: Collection, index: number): TextReplacement | null {
  const entry = extentOf(text, collection, index);
  if (!entry) return null;
  const [previous, next] = [extentOf(text, collection, index - 1), extentOf(text, collection, index + 1)];
  const { start, end } = entry;
  const from = lineStart(text, start);
  const isAlone = text.slice(from, start).trim() === '';
  // On lines, the next entry moves up behind the dash of the item.
  if (next && (collection.flow || !isAlone)) return { from: start, to: next.start, by: '' };
  if (collection.flow) return { from: previous?.end ?? start, to: end, by: '' };
  const endsLine = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1;
  if (endsLine > 0) return { from, to: endsLine, by: '' };
  // Keeps a file without a final line break so.
  return { from: from === 0 ? 0 : lineEnd(text, lineStart(text, from - 1)), to: text.length, by: '' };
}

/** The extent of a key with its value, or of an item with its dash. */
function extentOf(text: string, collection: Collection, index: number): { start: number; end: number } | undefined {
  const entry: unknown = collection.items[index];
  if (entry === undefined) return undefined;
  const start = startOf(isPair(entry) ? entry.key : entry);
  const end = endOf(entry);
  if (isMap(collection) || collection.flow) return { start, end };
  const line = lineStart(text, start);
  const dash = /^\s*-(?=\s)/.exec(text.slice(line, start));
  return dash ? { start: line + dash[0].length - 1, end } : undefined;
}
