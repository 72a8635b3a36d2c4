import { undoOperation } from '../../src/operations/undo/operation.ts';
import { contextOf, type KeyBinding } from '../app/model.ts';
import { noTarget, notWritable } from '../app/why-not.ts';
import { confirmOperation } from './runs/confirm.ts';

export const UNDO: KeyBinding = {
  id: 'undo',
  label: 'undo load',
  help: 'restore the database that the last load replaced',
  palette: 'Undo load…',
  whyNot: (context) => notWritable(context) ?? noTarget(context),
  run: (model) => {
    const { target } = contextOf(model);
    if (!target) return;
    const request = { target: target.row.name };
    confirmOperation(model, undoOperation, { request, title: 'undo load' });
  },
};
