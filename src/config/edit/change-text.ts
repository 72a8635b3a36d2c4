import { isSeq } from 'yaml';
import { createTree, removeValue, setValue, type Tree, valueAt } from '../tree.ts';
import { startOf } from '../yaml/find-spot.ts';
import { writeScalar } from '../yaml/yaml-text.ts';
import type { Change, NewItem, NewValue } from './change.ts';
import { applyEdits, cannotEdit, editChecked, replaceIn, spotFinder } from './edit-text.ts';
import { appendItem, removeEntry } from './entries.ts';
import { endOf } from './text-lines.ts';

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/** Applies a change of a form and keeps every other byte; refuses a change that would have other effects. */
export function changeText(text: string, change: Change): string {
  return editChecked(text, change.path, (before, tree) => {
    switch (change.kind) {
      case 'set':
        return applyEdits(before, tree, [{ path: change.path, value: inTree(change.value) }]);
      case 'name':
        return applyEdits(before, tree, [{ path: change.path, value: null }]);
      case 'append':
        return append(before, tree, change);
      case 'remove':
        return remove(before, tree, change);
      case 'rename':
        return rename(before, tree, change);
      default:
        return change satisfies never;
    }
  });
}

function append(text: string, tree: Tree, { path, value }: ChangeOf<'append'>): string {
  const item = itemInTree(value);
  const items = valueAt(tree, path);
  if (!Array.isArray(items)) return applyEdits(text, tree, [{ path, value: [item] }]);
  const list = spotFinder(text, path)(path).meant;
  const appended = isSeq(list) ? appendItem(text, list, value) : null;
  if (!appended) throw cannotEdit(path);
  items.push(item);
  return replaceIn(text, [appended]);
}

function inTree(value: ChangeOf<'set'>['value']): NewValue {
  return typeof value === 'object' ? value.map(itemInTree) : value;
}

function itemInTree(item: NewItem): NewItem {
  return typeof item === 'object' ? Object.assign(createTree(), item) : item;
}

function remove(text: string, tree: Tree, { path }: ChangeOf<'remove'>): string {
  const [parent, index] = [path.slice(0, -1), path.at(-1)];
  const items = valueAt(tree, parent);
  if (typeof index === 'string') return applyEdits(text, tree, [{ path, value: undefined }]);
  // An empty list means the same as no list, so the last item removes its list.
  if (Array.isArray(items) && items.length === 1) return applyEdits(text, tree, [{ path: parent, value: undefined }]);
  const list = spotFinder(text, path)(parent).meant;
  const removed = isSeq(list) && index !== undefined ? removeEntry(text, list, index) : null;
  if (!removed || !Array.isArray(items)) throw cannotEdit(path);
  items.splice(Number(index), 1);
  return replaceIn(text, [removed]);
}

function rename(text: string, tree: Tree, { path, name }: ChangeOf<'rename'>): string {
  const { pair, depth } = spotFinder(text, path)(path);
  if (!pair || depth < path.length) throw cannotEdit(path);
  const value = valueAt(tree, path);
  removeValue(tree, path);
  setValue(tree, [...path.slice(0, -1), name], value);
  return replaceIn(text, [{ from: startOf(pair.key), to: endOf(pair.key), by: writeScalar(name) }]);
}
