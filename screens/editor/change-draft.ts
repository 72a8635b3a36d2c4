import type { Change } from '../../src/config/edit/change.ts';
import { valueAt } from '../../src/config/tree.ts';
import type { Draft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Model } from '../app/model.ts';
import { notifyFailure } from '../app/notify-failure.ts';
import type { EditorPlace } from './editor-places.ts';
import { editorWith, selectPath, updateEditor } from './selection.ts';

/** Makes a change in the draft, on what the changes before it have made; what cannot be changed is told. */
export function changeDraft(model: Model, { queue }: EditorPlace, change: Change): void {
  inTurn(model, queue, {
    work: (draft) => model.operations.addChange(draft, change),
    show: (place) => selectChanged(place, change),
  });
}

/** Takes the last change back. */
export function undoEdit(model: Model): void {
  const place = model.navigation.top();
  if (place.screen !== 'editor') return;
  inTurn(model, place.queue, {
    work: (draft) => model.operations.changeDraft(draft, draft.changes.slice(0, -1)),
  });
}

export interface DraftWork {
  work: (draft: Draft) => Promise<Draft>;
  /** What the editor shows of it; by default what it showed. */
  show?: (place: EditorPlace) => EditorPlace;
}

/** One after the other: a change that is made while another one is would be made on what was before that. */
export function inTurn(model: Model, queue: EditorPlace['queue'], { work, show = (place) => place }: DraftWork): void {
  const doWork = async () => {
    const draft = editorWith(model, queue)?.draft;
    if (!draft) return;
    try {
      const changed = await work(draft);
      updateEditor(model, queue, (place) => show({ ...place, draft: changed }));
    } catch (thrown) {
      notifyFailure(model, thrown);
    }
  };
  queue.last = queue.last.then(doWork);
}

/** What has come, or has another name, is selected. */
function selectChanged(place: EditorPlace, change: Change): EditorPlace {
  const { path } = change;
  switch (change.kind) {
    case 'name':
      return selectPath(place, path);
    case 'rename':
      return selectPath(place, [...path.slice(0, -1), change.name]);
    case 'append': {
      const items = place.draft && valueAt(place.draft.written, path);
      const last = Array.isArray(items) ? items.length - 1 : 0;
      // What else an item needs is asked for in its form.
      const isForm = typeof change.value === 'object';
      return isForm ? { ...selectPath(place, [...path, last]), pane: 'form' } : { ...place, pane: 'form' };
    }
    case 'remove':
      return place.pane === 'tree' ? selectPath(place, path.slice(0, -1)) : place;
    case 'set':
      return place;
    default:
      return change satisfies never;
  }
}
