import { notTyped } from '../../src/presentation/shapes/question.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import type { ConfirmRoute } from '../commands/runs/confirm-route.ts';
import { runRoute } from '../commands/runs/run-route.ts';

export type ConfirmAnswer = 'leave' | 'go';

export function answerConfirm(model: Model, answer: ConfirmAnswer): void {
  const route = model.navigation.top();
  if (route.screen !== 'confirm') return;
  if (answer === 'leave' || !route.plan) model.navigation.pop();
  else model.navigation.replace(runRoute(model.runs.begin(route.plan.definition)));
}

export function confirmTyped(model: Model, { plan, typing }: ConfirmRoute): void {
  if (!plan || !typing) return;
  const name = plan.question.typed ?? '';
  if (typing.text === name) {
    answerConfirm(model, 'go');
    return;
  }
  model.navigation.notify({ tone: 'caution', text: notTyped(name, typing.text) });
}

export const RETRY_PLAN: KeyBinding<ConfirmRoute> = {
  id: 'refresh',
  label: 'retry',
  help: 'prepare the plan again, after an error',
  palette: 'Retry plan',
  when: ({ route }) => route.error !== null,
  run: (_, { retry }) => retry(),
  stays: true,
};
