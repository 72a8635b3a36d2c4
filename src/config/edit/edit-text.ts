import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isScalar } from 'yaml';
import { UserError } from '../../runtime/errors.ts';
import { dotted, type KeyPath, removeValue, setValue, type Tree } from '../tree.ts';
import { parseText } from '../yaml/parse-text.ts';
import { parseYaml } from '../yaml/yaml-source.ts';
import type { Edit, NewValue, Replacement } from './edit.ts';
import { createSpotFinder, type Spot } from './find-spot.ts';
import { removeKey } from './remove-key.ts';
import { insertKeys, replaceValue } from './set-value.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Changes some values and keeps every other byte: comments, order, quotes, anchors, blank lines and line endings.
 * Refuses an edit that would change other values.
 */
export function editText(text: string, edits: Edit[]): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const before = text.slice(mark.length);
  let after = before;
  for (let done = 0; done < edits.length; ) {
    const step = nextStep(after, edits.slice(done));
    after = applied(after, step.replacements);
    done += step.edits;
  }
  checkEdited(edits[0]?.path ?? [], { expected: expectedTree(edits, before), after });
  return mark + after;
}

interface Step {
  replacements: Replacement[];
  edits: number;
}

/** Makes as many edits as one reading of the text permits: existing values, or one added or removed key. */
function nextStep(text: string, edits: Edit[]): Step {
  const find = createSpotFinder(documentOf(text, edits));
  const becoming = valuesOf(edits, find);
  const replacements = new Map<unknown, Replacement>();
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

function comeOrGo(text: string, { path, value, find }: Edit & { find: (path: KeyPath) => Spot }): Replacement[] {
  const spot = find(path);
  if (value !== undefined) {
    const inserted = insertKeys(text, { into: spot, keys: path.slice(spot.depth), value });
    if (!inserted) throw cannotEdit(path);
    return inserted;
  }
  if (spot.depth < path.length) return [];
  const parent = find(path.slice(0, -1)).meant;
  const removed = spot.pair && removeKey(text, { pair: spot.pair, parent, isRoot: path.length === 1 });
  if (!removed) throw cannotEdit(path);
  return [removed];
}

function applied(text: string, replacements: Replacement[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const { from, to, by } of replacements.toSorted((a, b) => a.from - b.from)) {
    parts.push(text.slice(position, from), by);
    position = to;
  }
  return parts.join('') + text.slice(position);
}

function documentOf(text: string, edits: Edit[]): Document.Parsed {
  const { document, flaws } = parseText(text);
  if (!document || flaws.length > 0) throw cannotEdit(edits[0]?.path ?? []);
  return document;
}

function expectedTree(edits: Edit[], before: string): Tree {
  const expected = parseYaml(before).tree;
  for (const { path, value } of edits) {
    if (value === undefined) removeValue(expected, path);
    else setValue(expected, path, value);
  }
  return expected;
}

/** A value that several keys share (an alias) would change for all of them. */
export function checkEdited(path: KeyPath, { expected, after }: { expected: Tree; after: string }): void {
  const { tree, flaws } = parseYaml(after);
  if (flaws.length > 0 || !isDeepStrictEqual(tree, expected)) throw cannotEdit(path);
}

export function cannotEdit(path: KeyPath): UserError {
  return new UserError('configuration_not_written', `Cannot change ${dotted(path)} safely in this file`, {
    hint: 'Nothing was changed. Edit the file, or put the value on its own line.',
  });
}
