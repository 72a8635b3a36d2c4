import type { HistoryList } from '../results/history-results.ts';
import type { UserError } from '../runtime/errors.ts';

/** What earlier sessions and scripts did; `null` until it is read. */
export interface HistoryState {
  found: HistoryList | null;
  error: UserError | null;
}
