import { undoOperation } from '../../src/operations/undo/operation.ts';
import type { KeyBinding } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { noTarget, notWritable } from '../app/why-not.ts';
import { confirmOperation } from './runs/confirm.ts';

export const UNDO: KeyBinding = {
  id: 'undo',
  label: 'undo load',
  help: 'restore the database that the last load replaced',
  palette: 'Undo load…',
  whyNot: (context) => notWritable(context) ?? noTarget(context),
  run: onTarget((model, target) => confirmOperation(model, undoOperation, { request: { target }, title: 'undo load' })),
};
