import type { HistoryList } from '../../src/results/history-results.ts';
import { emptyList } from '../../src/state/list.ts';
import { fetchInto, notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { type KeyBinding, type Model, quietly } from '../app/model.ts';
import type { HistoryRoute } from '../history/history-route.ts';

export const HISTORY: KeyBinding = {
  id: 'history',
  label: 'history',
  help: 'builds, loads and transfers of earlier sessions and of scripts, too',
  run: (model, route) => {
    // The list of targets has a history of all; a screen of one target that of the target.
    const of = 'target' in route && typeof route.target === 'string' ? route.target : null;
    const shown: HistoryRoute = { screen: 'history', of, list: emptyList, opened: false, ...notFetched() };
    showWhileFetching(model, shown, (signal) => readHistory(model, { of, signal }));
  },
};

export async function readAgain(model: Model, route: HistoryRoute): Promise<void> {
  const unread: HistoryRoute = { ...route, ...notFetched(), found: route.found };
  model.navigation.replace(unread);
  fetchInto(model, unread, (signal) => readHistory(model, { of: route.of, signal }));
}

function readHistory(
  { operations }: Model,
  { of, signal }: { of: string | null; signal: AbortSignal },
): Promise<HistoryList> {
  return operations.listHistory(quietly(signal), of === null ? {} : { target: of });
}
