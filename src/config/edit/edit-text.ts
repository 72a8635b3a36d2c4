import { isDeepStrictEqual } from 'node:util';
import { isAlias, isMap, isScalar } from 'yaml';
import { UserError } from '../../runtime/errors.ts';
import { dotted, type KeyPath, removeValue, setValue, type Tree } from '../tree.ts';
import { parseText } from '../yaml/parse-text.ts';
import { parseYaml } from '../yaml/yaml-source.ts';
import type { Edit, NewValue, TextReplacement } from './change.ts';
import { removeKey } from './entries.ts';
import { createSpotFinder, type Spot } from './find-spot.ts';
import { insertKeys, replaceValue } from './set-value.ts';

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
