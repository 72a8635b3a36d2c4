import { resetOperation } from '../../src/operations/reset/operation.ts';
import { undoOperation } from '../../src/operations/undo/operation.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { latestNotLoadable, noTarget, notWritable } from '../app/why-not.ts';
import { confirmOperation } from './runs/confirm.ts';

export const RESET: KeyBinding = {
  id: 'reset',
  label: 'reset',
  help: 'restore the destination to its state after the last load; shows the plan and asks first',
  palette: 'Reset destination…',
  whyNot: latestNotLoadable,
  run: onTarget(confirmReset),
};

export function confirmReset(model: Model, target: string): void {
  confirmOperation(model, resetOperation, { request: { target }, title: 'reset' });
}

export const UNDO: KeyBinding = {
  id: 'undo',
  label: 'undo load',
  help: 'restore the database that the last load replaced',
  palette: 'Undo load…',
  whyNot: (context) => notWritable(context) ?? noTarget(context),
  run: onTarget((model, target) => confirmOperation(model, undoOperation, { request: { target }, title: 'undo load' })),
};
