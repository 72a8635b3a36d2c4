import { resetOperation } from '../../src/operations/reset/operation.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { latestNotLoadable } from '../app/why-not.ts';
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
