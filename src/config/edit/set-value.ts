import { isAlias, isMap, isScalar, type Scalar } from 'yaml';
import type { KeyPath } from '../tree.ts';
import { startOf } from '../yaml/find-node.ts';
import { itemLines, writeQuoted, writeScalar } from '../yaml/yaml-text.ts';
import type { NewItem, NewValue, TextReplacement } from './change.ts';
import { insertInFlow, insertLines } from './entries.ts';
import { isNothing, type Spot } from './find-spot.ts';
import { columnOf, endOf, indentStep } from './text-lines.ts';

/** Replaces an existing value; `null` when it is a map or list. */
export function replaceValue(text: string, { node, pair }: Spot, value: NewValue): TextReplacement | null {
  // `{a}` has no colon yet.
  if (node === null && pair) return { from: endOf(pair.key), to: endOf(pair.key), by: `: ${writeScalar(value)}` };
  if (isAlias(node)) return { from: startOf(node), to: endOf(node), by: writeScalar(value) };
  if (!isScalar(node)) return null;
  const [from, to] = [startOf(node), endOf(node)];
  if (from < to) return { from, to, by: writeLike(node, { written: text.slice(from, to), value }) };
  // An empty value: the new one goes behind the colon, before any comment.
  const behind = text.slice(0, from).trimEnd().length;
  return { from: behind, to: behind, by: ` ${writeScalar(value)}` };
}

function writeLike({ type }: Scalar, { written, value }: { written: string; value: NewValue }): string {
  if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') {
    const comment = /^[^\s#]*(\s+#[^\r\n]*)?/.exec(written)?.[1] ?? '';
    return writeScalar(value) + comment + (/\r?\n$/.exec(written)?.[0] ?? '');
  }
  if (typeof value !== 'string') return String(value);
  if (type === 'QUOTE_SINGLE' && /^[\x20-\x7E\u00A0-\uD7FF]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return type === 'QUOTE_DOUBLE' ? writeQuoted(value) : writeScalar(value);
}

export interface Insertion {
  into: Spot;
  keys: KeyPath;
  value: NewValue;
}

/** Inserts new keys at the end of their map; `null` when there is no map. */
export function insertKeys(text: string, { into, ...added }: Insertion): TextReplacement[] | null {
  const { node, pair } = into;
  if (isMap(node) && node.flow) return [insertInFlow(text, node, flowOf(added))];
  if (isMap(node) && node.items.length > 0) {
    const indent = columnOf(text, startOf(node.items[0]?.key));
    return [insertLines(text, endOf(node), linesOf(text, { ...added, indent }))];
  }
  if (!isNothing(node)) return null;
  if (!pair) return into.depth === 0 ? [insertLines(text, text.length, linesOf(text, { ...added, indent: 0 }))] : null;
  const indent = columnOf(text, startOf(pair.key)) + indentStep(text);
  const [from, to] = [startOf(node), endOf(node)];
  const written = from < to ? [{ from: text.slice(0, from).trimEnd().length, to, by: '' }] : [];
  return [...written, insertLines(text, endOf(pair), linesOf(text, { ...added, indent }))];
}

type NewEntry = Omit<Insertion, 'into'>;

function linesOf(text: string, { keys, value, indent }: NewEntry & { indent: number }): string[] {
  const step = indentStep(text);
  const items = isLong(value) ? value : null;
  const lines = keys.map((key, depth) => {
    const isLast = depth === keys.length - 1 && items === null;
    return `${' '.repeat(indent + step * depth)}${writeScalar(String(key))}:${isLast && value !== null ? ` ${writeScalar(value)}` : ''}`;
  });
  return [...lines, ...(items ?? []).flatMap((item) => itemLines(item, indent + step * keys.length))];
}

/** Reports whether a list has its items on lines of their own. */
function isLong(value: NewValue): value is readonly NewItem[] {
  return Array.isArray(value) && (value.length > 1 || typeof value[0] === 'object');
}

function flowOf({ keys, value }: NewEntry): string {
  return keys.reduceRight<string>((inside, key, depth) => {
    const isLast = depth === keys.length - 1;
    return `${writeScalar(String(key))}: ${isLast ? inside : `{ ${inside} }`}`;
  }, writeScalar(value));
}
