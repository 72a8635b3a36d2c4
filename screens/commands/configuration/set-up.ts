import type { KeyBinding } from '../../app/model.ts';
import { notWritable } from '../../app/why-not.ts';
import { setUp } from '../../setup/actions.ts';

export const SET_UP: KeyBinding = {
  id: 'set_up',
  label: 'set up',
  help: 'create a first configuration, question by question',
  palette: 'Create first configuration',
  whyNot: notWritable,
  run: setUp,
};
