import { isSeq } from 'yaml';
import { createTree, type KeyPath, removeValue, setValue, type Tree, valueAt } from '../tree.ts';
import { startOf } from '../yaml/find-node.ts';
import { parseText } from '../yaml/parse-text.ts';
import { parseYaml } from '../yaml/yaml-source.ts';
import { writeScalar } from '../yaml/yaml-text.ts';
import type { Change } from './change.ts';
import type { NewItem, TextReplacement } from './edit.ts';
import { cannotEdit, checkEdited, editConfigurationText } from './edit-text.ts';
import { createSpotFinder } from './find-spot.ts';
import { appendItem, removeItem } from './list-items.ts';
import { endOf } from './text-lines.ts';

/** Applies a change of a form and keeps every other byte; refuses a change that would have other effects. */
export function changeText(text: string, change: Change): string {
  const before = parseYaml(withoutMark(text)).tree;
  if (change.kind === 'set') return editConfigurationText(text, [change]);
  if (change.kind === 'remove' && typeof change.path.at(-1) === 'string') {
    return editConfigurationText(text, [{ path: change.path, value: undefined }]);
  }
  // An empty list means the same as no list, so the last item removes its list.
  if (change.kind === 'remove' && lengthAt(before, change.path.slice(0, -1)) === 1) {
    return editConfigurationText(text, [{ path: change.path.slice(0, -1), value: undefined }]);
  }
  if (change.kind === 'append' && !Array.isArray(valueAt(before, change.path))) {
    return editConfigurationText(text, [{ path: change.path, value: [asTree(change.value)] }]);
  }
  if (change.kind === 'name') return editConfigurationText(text, [{ path: change.path, value: null }]);
  const mark = text.slice(0, text.length - withoutMark(text).length);
  const replacement = replacementFor(withoutMark(text), change);
  if (!replacement) throw cannotEdit(change.path);
  const { from, to, by } = replacement;
  const after = withoutMark(text).slice(0, from) + by + withoutMark(text).slice(to);
  applyTo(before, change);
  checkEdited(change.path, { expected: before, after });
  return mark + after;
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

function lengthAt(tree: Tree, path: KeyPath): number {
  const list = valueAt(tree, path);
  return Array.isArray(list) ? list.length : 0;
}

type InPlace = Exclude<Change, { kind: 'set' | 'name' }>;

function replacementFor(text: string, change: InPlace): TextReplacement | null {
  const { document, flaws } = parseText(text);
  if (!document || flaws.length > 0) return null;
  const find = createSpotFinder(document);
  switch (change.kind) {
    case 'append': {
      const list = find(change.path).meant;
      return isSeq(list) ? appendItem(text, list, change.value) : null;
    }
    case 'remove': {
      const list = find(change.path.slice(0, -1)).meant;
      return isSeq(list) ? removeItem(text, list, Number(change.path.at(-1))) : null;
    }
    case 'rename': {
      const { pair, depth } = find(change.path);
      if (!pair || depth < change.path.length) return null;
      return { from: startOf(pair.key), to: endOf(pair.key), by: writeScalar(change.name) };
    }
    default:
      return change satisfies never;
  }
}

function applyTo(tree: Tree, change: InPlace): void {
  const { path } = change;
  const parent = valueAt(tree, path.slice(0, -1));
  switch (change.kind) {
    case 'append':
      setValue(tree, [...path, lengthAt(tree, path)], asTree(change.value));
      return;
    case 'remove':
      if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1);
      return;
    case 'rename': {
      const value = valueAt(tree, path);
      removeValue(tree, path);
      setValue(tree, [...path.slice(0, -1), change.name], value);
      return;
    }
    default:
      change satisfies never;
  }
}

function asTree(item: NewItem): NewItem {
  return typeof item === 'object' ? Object.assign(createTree(), item) : item;
}
