import type { Work } from '../../src/state/runs.ts';
import { factsOf } from '../facts.ts';
import type { Model } from '../model.ts';
import { verifyWork } from './work.ts';

/** Begins work and shows it. */
function begin(model: Model, work: Work): void {
  model.navigation.push({ screen: 'run', run: model.runs.begin(work), scrolledUp: 0 });
}

export function verify(model: Model): void {
  const { target, snapshot } = factsOf(model);
  if (target && snapshot) begin(model, verifyWork(model, target.row.name, snapshot));
}

export function askCancel(model: Model): void {
  const { run } = factsOf(model);
  if (run) model.navigation.push({ screen: 'cancel', run: run.id });
}

/** The same work again, in the place of the one that failed. */
export function retry(model: Model): void {
  const { run } = factsOf(model);
  const again = run && model.runs.again(run.id);
  if (again) model.navigation.replace({ screen: 'run', run: again, scrolledUp: 0 });
}

export type CancelAnswer = 'stay' | 'cancel';

export function answerCancel(model: Model, answer: CancelAnswer): void {
  const place = model.navigation.top();
  model.navigation.pop();
  if (answer === 'cancel' && place.screen === 'cancel') model.runs.cancel(place.run);
}
