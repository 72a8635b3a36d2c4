import type { Messages } from '../../src/state/messages.ts';
import type { Navigation, Notice } from '../../src/state/navigation.ts';
import type { Run } from '../../src/state/runs.ts';
import type { Route } from '../app/route.ts';

/** Results that were said in passing stay in the history; hints, such as why a key does nothing, do not. */
export function keepMessages({ store }: Navigation<Route>, messages: Messages): void {
  store.subscribe(({ notice }, before) => {
    if (notice === before.notice || (notice?.tone !== 'good' && notice?.tone !== 'bad')) return;
    messages.add({ ...notice, toast: false });
  });
}

interface Told {
  navigation: Navigation<Route>;
  messages: Messages;
}

/** What came of a run: who is not looking at it is told on whatever screen they are. */
export function tellOutcome(run: Run, { navigation, messages }: Told): void {
  const route = navigation.top();
  const isShown = route.screen === 'run' && route.run === run.id;
  messages.add({ ...outcomeNotice(run), run: run.id, toast: !isShown });
}

function outcomeNotice({ title, state, receipt }: Run): Notice {
  if (state.status === 'done') {
    return { tone: receipt?.problems.length === 0 ? 'good' : 'bad', text: receipt?.line ?? title };
  }
  const reason = state.error ? `: ${state.error.message}` : '';
  return { tone: state.status === 'cancelled' ? 'caution' : 'bad', text: `${title} ${state.status}${reason}` };
}
