import { isDeepStrictEqual } from 'node:util';
import { isAlias, isMap, isScalar, type Scalar } from 'yaml';
import { UserError } from '../../runtime/errors.ts';
import { dotted, type KeyPath, removeValue, setValue, type Tree } from '../tree.ts';
import { createSpotFinder, isNothing, type Spot, startOf } from '../yaml/find-spot.ts';
import { parseText } from '../yaml/parse-text.ts';
import { parseYaml } from '../yaml/yaml-source.ts';
import { itemLines, writeQuoted, writeScalar } from '../yaml/yaml-text.ts';
import type { Edit, NewItem, NewValue, TextReplacement } from './change.ts';
import { insertInFlow, insertLines, removeKey } from './entries.ts';
import { columnOf, endOf, indentStep } from './text-lines.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Changes some values and keeps every other byte: comments, order, quotes, anchors, blank lines and line endings.
 * Refuses an edit that would change other values.
 */
export function editConfigurationText(text: string, edits: Edit[]): string {
  return editChecked(text, edits[0]?.path ?? [], (before, tree) => applyEdits(before, tree, edits));
}

/**
 * Edits a text, and its tree as well. Throws unless the new text has the new tree: a value that several keys share (an
 * alias) would change for all of them.
 */
export function editChecked(text: string, path: KeyPath, edit: (text: string, tree: Tree) => string): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const before = text.slice(mark.length);
  const expected = parseYaml(before).tree;
  const after = edit(before, expected);
  const { tree, flaws } = parseYaml(after);
  if (flaws.length > 0 || !isDeepStrictEqual(tree, expected)) throw cannotEdit(path);
  return mark + after;
}

export function applyEdits(text: string, tree: Tree, edits: Edit[]): string {
  let after = text;
  for (let done = 0; done < edits.length; ) {
    const step = nextStep(after, edits.slice(done));
    after = replaceIn(after, step.replacements);
    done += step.edits;
  }
  for (const { path, value } of edits) {
    if (value === undefined) removeValue(tree, path);
    else setValue(tree, path, value);
  }
  return after;
}

/** Makes as many edits as one reading of the text permits: existing values, or one added or removed key. */
function nextStep(text: string, edits: Edit[]): { replacements: TextReplacement[]; edits: number } {
  const find = spotFinder(text, edits[0]?.path ?? []);
  const becoming = valuesOf(edits, find);
  const replacements = new Map<unknown, TextReplacement>();
  for (const [index, { path, value }] of edits.entries()) {
    const spot = find(path);
    const isThere = spot.depth === path.length;
    if (value === undefined || !isThere) {
      if (index > 0) return { replacements: [...replacements.values()], edits: index };
      return { replacements: comeOrGo(text, { path, value, find }), edits: 1 };
    }
    // The anchor's own edit also changes its aliases.
    if (isAlias(spot.node) && becoming.get(spot.meant) === value) continue;
    const replacement = replaceValue(text, spot, value);
    if (!replacement) throw cannotEdit(path);
    replacements.set(spot.node ?? spot.pair, replacement);
  }
  return { replacements: [...replacements.values()], edits: edits.length };
}

function valuesOf(edits: Edit[], find: (path: KeyPath) => Spot): Map<unknown, NewValue | undefined> {
  const values = new Map<unknown, NewValue | undefined>();
  for (const { path, value } of edits) {
    const { depth, node } = find(path);
    if (depth === path.length && isScalar(node)) values.set(node, value);
  }
  return values;
}

function comeOrGo(text: string, { path, value, find }: Edit & { find: (path: KeyPath) => Spot }): TextReplacement[] {
  const spot = find(path);
  if (value !== undefined) {
    const inserted = insertKeys(text, { into: spot, keys: path.slice(spot.depth), value });
    if (!inserted) throw cannotEdit(path);
    return inserted;
  }
  if (spot.depth < path.length) return [];
  const map = find(path.slice(0, -1)).meant;
  const removed = isMap(map) && spot.pair ? removeKey(text, map, { pair: spot.pair, isRoot: path.length === 1 }) : null;
  if (!removed) throw cannotEdit(path);
  return [removed];
}

export function replaceIn(text: string, replacements: TextReplacement[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const { from, to, by } of replacements.toSorted((a, b) => a.from - b.from)) {
    parts.push(text.slice(position, from), by);
    position = to;
  }
  return parts.join('') + text.slice(position);
}

/** Throws for a text with errors. */
export function spotFinder(text: string, path: KeyPath): (path: KeyPath) => Spot {
  const { document, flaws } = parseText(text);
  if (!document || flaws.length > 0) throw cannotEdit(path);
  return createSpotFinder(document);
}

export function cannotEdit(path: KeyPath): UserError {
  return new UserError('file_not_written', `Cannot change ${dotted(path)} safely in this file`, {
    hint: 'Nothing was changed. Edit the file, or put the value on its own line.',
  });
}

/** Replaces an existing value; `null` when it is a map or list. */
function replaceValue(text: string, { node, pair }: Spot, value: NewValue): TextReplacement | null {
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

interface Insertion {
  into: Spot;
  keys: KeyPath;
  value: NewValue;
}

/** Inserts new keys at the end of their map; `null` when there is no map. */
function insertKeys(text: string, { into, ...added }: Insertion): TextReplacement[] | null {
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
