import type { Work } from '../../src/state/runs.ts';
import { factsOf } from '../app/facts.ts';
import type { Model } from '../app/model.ts';
import { runRoute } from '../app/route.ts';
import { verifyWork } from './work.ts';

/** Begins work and shows it. */
function begin(model: Model, work: Work): void {
  model.navigation.push(runRoute(model.runs.begin(work)));
}

export function verify(model: Model): void {
  const { target, snapshot } = factsOf(model);
  if (target && snapshot) begin(model, verifyWork(model, target.row.name, snapshot));
}

export function askCancel(model: Model): void {
  const { run } = factsOf(model);
  if (!run) return;
  // What has not begun loses nothing.
  if (run.state.status === 'waiting') model.runs.cancel(run.id);
  else model.navigation.push({ screen: 'cancel', run: run.id });
}

/** The same work again, in the place of the one that failed. */
export function retry(model: Model): void {
  const { navigation, runs } = model;
  const { run } = factsOf(model);
  const again = run && runs.again(run.id);
  if (!again) return;
  const route = runRoute(again);
  if (navigation.top().screen === 'run') navigation.replace(route);
  else navigation.push(route);
}

export type CancelAnswer = 'stay' | 'cancel';

export function answerCancel(model: Model, answer: CancelAnswer): void {
  const route = model.navigation.top();
  model.navigation.pop();
  if (answer === 'cancel' && route.screen === 'cancel') model.runs.cancel(route.run);
}
