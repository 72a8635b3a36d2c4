import type { KeyPath } from '../../../src/config/tree.ts';
import { pathOfKey } from '../../../src/config/yaml/path-of-key.ts';
import { toUserError } from '../../../src/runtime/errors.ts';
import { emptyList } from '../../../src/state/list.ts';
import type { KeyBinding, Model } from '../../app/model.ts';
import { notEditable } from '../../app/why-not.ts';
import { selectPath, updateEditor } from '../../editor/selection.ts';

export const EDIT_CONFIGURATION: KeyBinding = {
  id: 'edit',
  label: 'edit',
  help: 'edit the configuration in a tree of sections, with a form for each',
  palette: 'Edit configuration',
  whyNot: notEditable,
  run: (model) => editConfiguration(model),
};

/** Opens the configuration file, at a key when one is given. */
export function editConfiguration(model: Model, key?: string): void {
  const queue = { last: Promise.resolve() };
  model.navigation.push({
    screen: 'editor',
    draft: null,
    error: null,
    queue,
    pane: 'tree',
    list: emptyList,
    fields: emptyList,
    unfolded: [],
    task: 'value',
    typing: null,
    wrong: null,
    refused: null,
    names: {},
    suggestion: null,
  });
  model.operations.openDraft().then(
    (draft) =>
      updateEditor(model, queue, (route) => {
        const opened = { ...route, draft };
        return key === undefined ? opened : selectPath(opened, pathOfKey(draft.written, key));
      }),
    (thrown: unknown) => updateEditor(model, queue, (route) => ({ ...route, error: toUserError(thrown) })),
  );
}

export function selectInEditor({ navigation }: Model, path: KeyPath): void {
  const editor = navigation.top();
  if (editor.screen === 'editor') navigation.replace(selectPath(editor, path));
}
