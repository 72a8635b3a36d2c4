import type { TextEdit } from '../../components/text-edit.ts';
import { NAME_OF_SAVE } from '../../src/operations/back/text.ts';
import { FieldFrame } from '../app/frame/field-frame.tsx';
import { BACK } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
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

export const saveNameScreen: ScreenModule<SaveNameRoute> = {
  id: 'save-name',
  title: 'New save',
  view: SaveNameView,
  keys: [
    {
      keys: ['enter'],
      label: 'save',
      help: 'save under this name; default: the time',
      run: accept,
      stays: true,
      palette: false,
    },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'back; nothing is saved' },
  ],
  onAccept: accept,
};

function accept(model: Model, { target, branch, typing }: SaveNameRoute): void {
  const name = typing.text.trim();
  model.navigation.pop();
  startSave(model, { target, branch, ...(name !== '' && { name }) });
}

function SaveNameView({ route }: { route: SaveNameRoute }) {
  const { target, branch, typing } = route;
  const field = { about: NAME_OF_SAVE, label: 'Name:', edit: typing, placeholder: 'before-migration' };
  return (
    <FieldFrame screen="save-name" path={[target, ...(branch === undefined ? [] : [branch]), 'save']} {...field} />
  );
}
