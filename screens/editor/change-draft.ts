import type { Change } from '../../src/config/edit/change.ts';
import { valueAt } from '../../src/config/tree.ts';
import type { Draft } from '../../src/operations/configuration/edit-configuration.ts';
import { type Model, notifyFailure } from '../app/model.ts';
import type { EditorRoute } from './editor-route.ts';
import { editorWith, selectPath, updateEditor } from './selection.ts';

/** Makes a change in the draft, or shows why it cannot be made. */
export function changeDraft(model: Model, { queue }: EditorRoute, change: Change): void {
  inTurn(model, queue, {
    work: (draft) => model.operations.addChange(draft, change),
    show: (route) => selectChanged(route, change),
  });
}

export function undoEdit(model: Model, { queue }: EditorRoute): void {
  inTurn(model, queue, {
    work: (draft) => model.operations.changeDraft(draft, draft.changes.slice(0, -1)),
  });
}

export interface DraftWork {
  work: (draft: Draft) => Promise<Draft>;
  /** Selects the result. Default: keeps the selection. */
  show?: (route: EditorRoute) => EditorRoute;
}

/** Runs one change after the other: concurrent changes would overwrite each other. */
export function inTurn(model: Model, queue: EditorRoute['queue'], { work, show = (route) => route }: DraftWork): void {
  const doWork = async () => {
    const draft = editorWith(model, queue)?.draft;
    if (!draft) return;
    try {
      const changed = await work(draft);
      updateEditor(model, queue, (route) => show({ ...route, draft: changed }));
    } catch (thrown) {
      notifyFailure(model, thrown);
    }
  };
  queue.last = queue.last.then(doWork);
}

/** Selects the new or renamed entry. */
function selectChanged(route: EditorRoute, change: Change): EditorRoute {
  const { path } = change;
  switch (change.kind) {
    case 'name':
      return selectPath(route, path);
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
