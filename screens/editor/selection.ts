import type { KeyPath } from '../../src/config/tree.ts';
import { selectedItem } from '../app/lists/in-view.ts';
import type { Model } from '../app/model.ts';
import type { EditorRoute } from './editor-route.ts';
import { type Field, fieldsOf } from './fields.ts';
import { rowId, type TreeRow, treeRows } from './tree-rows.ts';

/** The contents of the two panes. */
export interface Panes {
  rows: TreeRow[];
  row: TreeRow;
  fields: Field[];
  /** `null` for a section without fields. */
  field: Field | null;
}

/** `null` until the file is read. */
export function panesOf({ draft, unfolded, list, fields: form }: EditorRoute): Panes | null {
  if (!draft) return null;
  const rows = treeRows(draft, unfolded);
  const row = selectedItem(rows, ({ id }) => id, list);
  if (!row) return null;
  const fields = fieldsOf(draft, row);
  return { rows, row, fields, field: selectedItem(fields, ({ id }) => id, form) };
}

/** Returns the path that renaming applies to: the selected unknown key, or the selected entry. */
export function renamedAt(route: EditorRoute): { path: KeyPath; canChange: boolean } {
  const { row, field } = panesOf(route) ?? {};
  if (route.pane === 'form' && field && !field.isKnown) return { path: field.path, canChange: true };
  return { path: row?.path ?? [], canChange: row !== undefined && row.folded !== null };
}

/** Selects a section, or a value in its section, and unfolds its parents. */
export function selectPath(route: EditorRoute, path: KeyPath): EditorRoute {
  const around = path.map((_, index) => rowId(path.slice(0, index + 1)));
  const opened = { ...route, unfolded: [...new Set([...route.unfolded, ...around])] };
  const rows = opened.draft ? treeRows(opened.draft, opened.unfolded) : [];
  // A missing key has no section yet: the nearest one is selected.
  const nearest = path
    .map((_, index) => rowId(path.slice(0, path.length - index)))
    .find((id) => rows.some((row) => row.id === id));
  const isSection = nearest === rowId(path);
  return {
    ...opened,
    list: { ...route.list, selected: nearest ?? rowId([]) },
    fields: { ...route.fields, selected: isSection ? null : rowId(path) },
    pane: isSection ? 'tree' : 'form',
  };
}

/** Updates the editor's route, which may be below other routes. */
export function updateEditor(
  model: Model,
  queue: EditorRoute['queue'],
  update: (route: EditorRoute) => EditorRoute,
): void {
  model.navigation.change((route) => (route.screen === 'editor' && route.queue === queue ? update(route) : route));
}

export function editorWith(model: Model, queue: EditorRoute['queue']): EditorRoute | null {
  const { stack } = model.navigation.store.getState();
  const found = stack.find((route): route is EditorRoute => route.screen === 'editor' && route.queue === queue);
  return found ?? null;
}
