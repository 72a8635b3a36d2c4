import type { Change } from '../../src/config/edit/change.ts';
import { dotted, valueAt } from '../../src/config/tree.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import { type Model, orNotify } from '../app/model.ts';
import type { EditorRoute } from './editor-route.ts';
import { editorWith, selectPath, updateEditor } from './selection.ts';
import { EDITOR_NOTICES, undoneText } from './text.ts';
import { rowId, treeRows } from './tree-rows.ts';

/** Makes a change in the draft, or shows why it cannot be made. */
export function changeDraft(model: Model, { queue }: EditorRoute, change: Change): void {
  inTurn(model, queue, changing(model, change));
}

export function changing(model: Model, change: Change): Required<DraftWork> {
  return {
    work: (draft) => model.operations.addChange(draft, change),
    show: (route) => selectChanged(route, change),
  };
}

/** Undoes the last change; the selection stays, or goes to the undone change where its entry is gone. */
export function undoEdit(model: Model, { queue }: EditorRoute): void {
  let undone: Change | undefined;
  inTurn(model, queue, {
    work: async (draft) => {
      // A text that was refused meanwhile is not a change.
      if (editorWith(model, queue)?.typing) return null;
      undone = draft.changes.at(-1);
      if (undone) {
        model.navigation.notify({ tone: 'plain', text: undoneText(dotted(undone.path)) });
        return model.operations.changeDraft(draft, draft.changes.slice(0, -1));
      }
      model.navigation.notify({ tone: 'caution', text: EDITOR_NOTICES.nothingToUndo });
      return null;
    },
    show: (route) => (undone ? selectUndone(route, undone) : route),
  });
}

function selectUndone(route: EditorRoute, { kind, path }: Change): EditorRoute {
  const { selected } = route.list;
  const rows = route.draft ? treeRows(route.draft, route.unfolded) : [];
  const isThere = selected === null || rows.some(({ id }) => id === selected);
  const isParent = selected === rowId(path.slice(0, -1));
  if (isThere && !(kind === 'remove' && route.pane === 'tree' && isParent)) return route;
  return selectPath(route, kind === 'name' ? path.slice(0, -1) : path);
}

export interface DraftWork {
  /** `null` changes nothing. */
  work: (draft: ConfigurationDraft) => Promise<ConfigurationDraft | null>;
  /** Selects the result. Default: keeps the selection. */
  show?: (route: EditorRoute) => EditorRoute;
}

/** Runs one change after the other: concurrent changes would overwrite each other. */
export function inTurn(model: Model, queue: EditorRoute['queue'], { work, show = (route) => route }: DraftWork): void {
  const doWork = async (): Promise<void> => {
    const draft = editorWith(model, queue)?.draft;
    const changed = draft && (await work(draft));
    if (changed) updateEditor(model, queue, (route) => show({ ...route, draft: changed }));
  };
  queue.last = queue.last.then(() => orNotify(model, doWork)).then(() => {});
}

/** Selects the new or renamed entry. */
function selectChanged(route: EditorRoute, change: Change): EditorRoute {
  const { path } = change;
  switch (change.kind) {
    case 'name':
      // A target begins with its source.
      return selectPath(route, path.length === 2 && path[0] === 'targets' ? [...path, 'snapshot', 'src_url'] : path);
    case 'rename':
      return selectPath(route, [...path.slice(0, -1), change.name]);
    case 'append': {
      const items = route.draft && valueAt(route.draft.written, path);
      const last = Array.isArray(items) ? items.length - 1 : 0;
      // The form asks for the other keys of the item.
      const isForm = typeof change.value === 'object';
      return isForm ? { ...selectPath(route, [...path, last]), pane: 'form' } : { ...route, pane: 'form' };
    }
    case 'remove':
      return route.pane === 'tree' ? selectPath(route, path.slice(0, -1)) : route;
    case 'set':
      return route;
    default:
      return change satisfies never;
  }
}
