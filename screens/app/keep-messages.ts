import type { Messages } from '../../src/state/messages.ts';
import type { Navigation } from '../../src/state/navigation.ts';
import type { Run } from '../../src/state/runs.ts';
import { endedLine } from './frame/run-text.ts';
import type { Model } from './model.ts';
import type { Route } from './route.ts';

/** Keeps notices of results in the history; hints are not kept. */
export function keepMessages({ store }: Navigation<Route>, messages: Messages): void {
  store.subscribe(({ notice }, before) => {
    if (notice === before.notice || (notice?.tone !== 'good' && notice?.tone !== 'bad')) return;
    messages.add({ ...notice, toast: false });
  });
}

/** Adds the result of a run, as a toast where the run is not shown. */
export function addOutcome(run: Run, { navigation, messages }: Pick<Model, 'navigation' | 'messages'>): void {
  const route = navigation.top();
  const isShown = route.screen === 'run' && route.run === run.id;
  messages.add({ ...endedLine(run), run: run.id, toast: !isShown });
}
