import { ACTIVITY, BACK, HELP, MOVES_WITHOUT_TAB, PALETTE } from '../app/keys.ts';
import type { KeyBinding, KeyContext } from '../app/model.ts';
import { move } from '../app/navigate.ts';
import { showDraftDiff } from '../commands/configuration/save-draft.ts';
import {
  addEntry,
  foldEntry,
  openInEditor,
  openOutside,
  otherPane,
  readAgain,
  removeEntry,
  renameEntry,
  showProblems,
} from './actions.ts';
import { undoEdit } from './change-draft.ts';
import type { EditorRoute } from './editor-route.ts';
import { completeName, suggestionsAt } from './names.ts';
import { acceptField, stopTyping } from './typed.ts';

type EditorContext = KeyContext<EditorRoute>;

const isTyping = ({ route }: EditorContext): boolean => route.typing !== null;
const hasSuggestions = ({ route }: EditorContext): boolean => (suggestionsAt(route)?.names.length ?? 0) > 0;

const TYPING_KEYS: KeyBinding<EditorRoute>[] = [
  {
    keys: ['enter'],
    label: 'apply',
    help: 'while typing: apply the typed text, or the selected name below it',
    when: isTyping,
    run: acceptField,
    stays: true,
  },
  {
    keys: ['esc'],
    label: 'cancel',
    help: 'while typing: restore the value',
    when: isTyping,
    run: stopTyping,
    stays: true,
  },
  {
    keys: ['down', 'up'],
    label: 'choose',
    help: 'while typing: choose an existing name, such as a table of the source',
    when: hasSuggestions,
    run: (model) => move(model, 'down'),
  },
  {
    keys: ['tab'],
    label: 'complete',
    help: 'while typing: complete the selected name, or the best match',
    palette: 'Complete name',
    when: hasSuggestions,
    run: completeName,
  },
];

/** Keys for a file that is not YAML, and so has no form. */
const FAILED_KEYS: KeyBinding<EditorRoute>[] = [
  {
    id: 'edit',
    label: 'open in your editor',
    help: 'where the file has no form: open it in $VISUAL or $EDITOR, at the first problem',
    when: ({ route }) => route.error?.code === 'configuration_invalid',
    run: (model, route) => void openOutside(model, route),
    stays: true,
  },
  {
    id: 'refresh',
    label: 'retry',
    help: 'where the file has no form: read it again',
    when: ({ route }) => route.error !== null,
    run: readAgain,
    stays: true,
  },
];

const BROWSING_KEYS: KeyBinding<EditorRoute>[] = [
  {
    keys: ['enter', 'right'],
    label: 'edit',
    help: 'open the form of the section; in the form, type or choose the value',
    run: openInEditor,
  },
  {
    keys: ['tab'],
    label: 'tree or form',
    help: 'switch between the tree and the form',
    palette: 'Switch between tree and form',
    run: otherPane,
  },
  {
    id: 'write',
    label: 'save',
    help: 'show the changes of the file, and save it',
    palette: 'Save configuration…',
    run: showDraftDiff,
    stays: true,
  },
  { id: 'new', label: 'add', help: 'add to the map or list', palette: 'Add entry', run: addEntry },
  { id: 'rename', label: 'rename', help: 'rename the entry', palette: 'Rename entry', run: renameEntry },
  {
    id: 'remove',
    label: 'remove',
    help: 'remove the value or section',
    palette: 'Remove entry',
    run: removeEntry,
  },
  { id: 'undo', label: 'undo', help: 'undo the last change', palette: 'Undo change', run: undoEdit },
  {
    id: 'check',
    label: 'problems',
    help: 'list all problems',
    palette: 'List problems',
    run: showProblems,
  },
  {
    keys: ['space'],
    label: 'fold',
    help: 'show or hide the sections of an entry, such as a target',
    palette: 'Show or hide sections',
    run: foldEntry,
  },
];

const COMMON_KEYS: KeyBinding<EditorRoute>[] = [BACK, ACTIVITY, PALETTE, HELP, ...MOVES_WITHOUT_TAB];

export const EDITOR_KEYS: KeyBinding<EditorRoute>[] = [
  ...TYPING_KEYS,
  ...FAILED_KEYS,
  ...BROWSING_KEYS.map((binding) => unlessTyping(binding, ({ route }) => route.error === null)),
  ...COMMON_KEYS.map((binding) => unlessTyping(binding, () => true)),
];

function unlessTyping(
  binding: KeyBinding<EditorRoute>,
  also: (context: EditorContext) => boolean,
): KeyBinding<EditorRoute> {
  return {
    ...binding,
    when: (context) => !isTyping(context) && also(context) && (binding.when?.(context) ?? true),
  };
}
