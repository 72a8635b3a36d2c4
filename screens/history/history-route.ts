import type { HistoryEntry, HistoryList } from '../../src/results/history-results.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';

declare module '../app/route.ts' {
  interface Routes {
    history: HistoryRoute;
  }
}

export interface HistoryRoute extends FetchState<HistoryList> {
  screen: 'history';
  /** `null`: every target. */
  of: string | null;
  list: ListState;
  /** The selected entry is shown in full. */
  opened: boolean;
}

export function entriesOf({ found }: HistoryRoute): HistoryEntry[] {
  return found?.entries ?? [];
}
