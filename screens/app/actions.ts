import { askBuild, askLoad, askLoadLatest, askRemove, askUndo } from '../confirm/actions.ts';
import { askSanitize, editQuery, showCoverage } from '../coverage/actions.ts';
import { doctor, editFinding, showFix } from '../doctor/actions.ts';
import {
  addEntry,
  editConfiguration,
  foldEntry,
  otherPane,
  removeEntry,
  renameEntry,
  showProblems,
} from '../editor/actions.ts';
import { undoEdit } from '../editor/change-draft.ts';
import { showDraftDiff } from '../editor/save.ts';
import { messages } from '../messages/actions.ts';
import { writeNote } from '../note/actions.ts';
import { quit } from '../quit/actions.ts';
import { askCancel, retry, verify } from '../run/actions.ts';
import { saveLog } from '../run/save-log.ts';
import { setUp } from '../setup/actions.ts';
import { copySignInUrl, signIn, signInByCode } from '../sign-in/actions.ts';
import { askExport, compare, mark, transfer } from '../snapshots/actions.ts';
import { askSubset, changeShare, copyTable, excludeTable, saveSubset, showSubset } from '../subset/actions.ts';
import { copyUrl, sort } from '../targets/actions.ts';
import { askTrust } from '../trust/actions.ts';
import { back, clearFilter, help, mouse, move, openSelected, palette, startFilter, tasks } from './browse.ts';
import type { Action } from './key-binding.ts';
import type { Model } from './model.ts';
import { refresh } from './refresh.ts';

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
  refresh: (model) => void refresh(model).then(() => askTrust(model)),
  build: askBuild,
  load: askLoad,
  'load-latest': askLoadLatest,
  sanitize: askSanitize,
  coverage: showCoverage,
  'edit-query': (model) => void editQuery(model),
  verify,
  remove: askRemove,
  note: writeNote,
  undo: askUndo,
  'cancel-run': askCancel,
  retry,
  'save-log': saveLog,
  mark,
  compare,
  push: (model) => transfer(model, 'push'),
  pull: (model) => transfer(model, 'pull'),
  export: askExport,
  sort,
  copy: copyUrl,
  doctor,
  'show-fix': showFix,
  'edit-finding': (model) => void editFinding(model),
  'set-up': setUp,
  subset: showSubset,
  'make-subset': askSubset,
  'exclude-table': excludeTable,
  'copy-table': copyTable,
  'larger-share': (model) => changeShare(model, 1),
  'smaller-share': (model) => changeShare(model, -1),
  'save-subset': saveSubset,
  'edit-configuration': (model) => editConfiguration(model),
  'other-pane': otherPane,
  fold: foldEntry,
  'add-entry': addEntry,
  'rename-entry': renameEntry,
  'remove-entry': removeEntry,
  'undo-edit': undoEdit,
  problems: showProblems,
  save: showDraftDiff,
  'sign-in': (model) => void signIn(model),
  'sign-in-by-code': signInByCode,
  'copy-sign-in-url': copySignInUrl,
  tasks,
  messages,
  palette,
  mouse,
  help,
  quit,
};
