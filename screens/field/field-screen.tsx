import type { TextEdit } from '../../components/text-edit.ts';
import type { TextFieldProps } from '../../components/text-field.tsx';
import { FieldFrame } from '../app/frame/field-frame.tsx';
import { CANCEL } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';

interface FieldRoute extends Pick<TextFieldProps, 'label' | 'placeholder'> {
  screen: 'field';
  path: string[];
  about: string;
  typing: TextEdit;
  /** Leaves the screen, unless the text has to be corrected. */
  accept: (text: string) => void;
}

export const fieldScreen: ScreenModule<FieldRoute> = {
  title: 'A text: a name, a note, tags, a file, a command',
  view: FieldView,
  keys: [
    { keys: ['enter'], label: 'confirm', help: 'accept the text', run: accept, stays: true },
    { ...CANCEL, keys: ['esc'] },
  ],
  onAccept: accept,
};

function accept(_: Model, { typing, accept: take }: FieldRoute): void {
  take(typing.text.trim());
}

function FieldView({ route: { path, about, label, placeholder = '', typing } }: { route: FieldRoute }) {
  return <FieldFrame path={path} about={about} label={label} placeholder={placeholder} edit={typing} />;
}
