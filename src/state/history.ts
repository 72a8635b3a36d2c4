import type { HistoryList } from '../results/history-results.ts';
import type { UserError } from '../runtime/errors.ts';

/** Operations of earlier sessions and of scripts; `null` until they are read. */
export interface HistoryState {
  found: HistoryList | null;
  error: UserError | null;
}
