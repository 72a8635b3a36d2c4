import { emptyList } from '../../src/state/list.ts';
import { factsOf } from '../app/facts.ts';
import type { Model } from '../app/model.ts';
import { runRoute } from '../app/route.ts';

export function messages(model: Model): void {
  model.navigation.push({ screen: 'messages', list: emptyList });
}

/** The run that the selected message is about, with its steps and log. */
export function openMessage(model: Model): void {
  const run = factsOf(model).message?.run ?? null;
  if (run !== null) model.navigation.push(runRoute(run));
}
