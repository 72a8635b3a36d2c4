import { resetQuestion } from '../../src/presentation/reset.ts';
import { contextOf, type KeyBinding, type Model, quietly } from '../app/model.ts';
import { latestNotLoadable, notWritable } from '../app/why-not.ts';
import { resetRun } from '../run/definitions.ts';
import { confirm, UNVERIFIED_SOURCES } from './actions.ts';
import type { ConfirmRoute } from './confirm-route.ts';

export const RESET: KeyBinding = {
  id: 'reset',
  keys: ['R'],
  label: 'reset',
  help: 'restore the destination to its state after the last load; shows the plan and asks first',
  palette: 'Reset destination…',
  whyNot: latestNotLoadable,
  run: (model) => {
    const { target } = contextOf(model);
    if (target) confirmReset(model, target.row.name);
  },
};

/** In the plan of a load that a reset does faster. */
export const RESET_INSTEAD: KeyBinding<ConfirmRoute> = {
  id: 'reset',
  keys: ['R'],
  label: 'reset instead',
  help: 'reset the destination from its base copy, which is of this snapshot and faster; asks first',
  palette: 'Reset destination instead…',
  when: ({ route }) => route.plan?.resetInstead ?? false,
  whyNot: notWritable,
  run: (model, { target }) => {
    model.navigation.pop();
    confirmReset(model, target);
  },
};

function confirmReset(model: Model, target: string): void {
  const request = { target, ...UNVERIFIED_SOURCES };
  confirm(model, {
    target,
    title: 'reset',
    plan: async (signal) => {
      const planned = await model.operations.planReset(quietly(signal), request);
      return { question: resetQuestion(planned.plan, model.clock()), definition: resetRun(model, planned) };
    },
  });
}
