import { resetOperation } from '../../src/operations/reset/operation.ts';
import { contextOf, type KeyBinding, type Model } from '../app/model.ts';
import { latestNotLoadable } from '../app/why-not.ts';
import { confirmOperation } from './runs/confirm.ts';

export const RESET: KeyBinding = {
  id: 'reset',
  label: 'reset',
  help: 'restore the destination to its state after the last load; shows the plan and asks first',
  palette: 'Reset destination…',
  whyNot: latestNotLoadable,
  run: (model) => {
    const { target } = contextOf(model);
    if (target) confirmReset(model, target.row.name);
  },
};

export function confirmReset(model: Model, target: string): void {
  confirmOperation(model, resetOperation, { request: { target }, title: 'reset' });
}
