import { back, clearFilter, help, move, openSelected, startFilter, tasks } from './browse.ts';
import { askLoad, askRemove, askUndo } from './confirm/actions.ts';
import type { Action } from './keys.ts';
import type { Model } from './model.ts';
import { writeNote } from './note/actions.ts';
import { quit } from './quit/actions.ts';
import { refresh } from './refresh.ts';
import { askCancel, build, retry, verify } from './run/actions.ts';
import { copyUrl, signIn, signInByCode } from './sign-in/actions.ts';

/** What each action of the key table does. */
export const ACTIONS: Record<Action, (model: Model) => void> = {
  'move-up': (model) => move(model, 'up'),
  'move-down': (model) => move(model, 'down'),
  'page-up': (model) => move(model, 'page-up'),
  'page-down': (model) => move(model, 'page-down'),
  'move-first': (model) => move(model, 'first'),
  'move-last': (model) => move(model, 'last'),
  open: openSelected,
  back,
  filter: startFilter,
  'clear-filter': clearFilter,
  refresh: (model) => void refresh(model),
  build,
  load: askLoad,
  verify,
  remove: askRemove,
  note: writeNote,
  undo: askUndo,
  'cancel-run': askCancel,
  retry,
  'sign-in': signIn,
  'sign-in-by-code': signInByCode,
  'copy-url': copyUrl,
  tasks,
  help,
  quit,
};
