import type { TextEdit } from '../../components/text-edit.ts';
import { NAME_OF_SAVE } from '../../src/operations/back/text.ts';
import { fieldScreen } from '../app/frame/field-screen.tsx';
import { startSave } from '../commands/save.ts';

declare module '../app/route.ts' {
  interface Routes {
    'save-name': SaveNameRoute;
  }
}

interface SaveNameRoute {
  screen: 'save-name';
  target: string;
  /** Absent: the destination. */
  branch?: string | undefined;
  typing: TextEdit;
}

export const saveNameScreen = fieldScreen<SaveNameRoute>({
  id: 'save-name',
  title: 'New save',
  words: { label: 'save', help: 'save under this name; default: the time' },
  nothing: 'saved',
  field: ({ target, branch }) => ({
    path: [target, ...(branch === undefined ? [] : [branch]), 'save'],
    ...{ about: NAME_OF_SAVE, label: 'Name:', placeholder: 'before-migration' },
  }),
  accept(model, { target, branch, typing }) {
    const name = typing.text.trim();
    model.navigation.pop();
    startSave(model, { target, branch, ...(name !== '' && { name }) });
  },
});
