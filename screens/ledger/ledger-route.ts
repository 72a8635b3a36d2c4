import type { TextEdit } from '../../components/text-edit.ts';
import type { LedgerAnswer, LedgerReview } from '../../src/operations/sanitize/ledger/review.ts';
import { type ReviewRow, reviewRows } from '../../src/operations/sanitize/ledger/review-text.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { selectedItem } from '../app/lists/in-view.ts';

/** The columns that the ledger had open when the screen was opened. Each answer is written at once. */
export interface LedgerRoute extends FetchState<LedgerReview> {
  screen: 'ledger';
  target: string;
  /** The step in progress, until the columns are there. */
  step: string | null;
  answers: ReadonlyMap<string, LedgerAnswer['entry']>;
  /** The entries that the answers have replaced, the last one at the end. */
  replaced: readonly Pick<LedgerAnswer, 'name' | 'entry'>[];
  /** Writes in the order of the answers. */
  saving: Promise<void>;
  /** The reason for keeping the selected column. */
  typing: TextEdit | null;
  list: ListState;
}

export function rowsOf({ found, answers }: LedgerRoute): ReviewRow[] {
  return found ? reviewRows(found, answers) : [];
}

export function selectedRow(route: LedgerRoute): ReviewRow | null {
  return selectedItem(rowsOf(route), ({ name }) => name, route.list);
}
