import type { TextEdit } from '../../components/text-edit.ts';
import type { OpenSuggestion } from '../../src/operations/sanitize/suggest.ts';
import { type SuggestionRow, suggestionRows } from '../../src/operations/sanitize/suggestion-text.ts';
import type { TrialResult } from '../../src/results/review/sanitize-results.ts';
import type { ColumnChoices } from '../../src/results/review/suggested-query.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { selectedItem } from '../app/lists/in-view.ts';

/** A suggested sanitization query as a checklist. Its throw-away database is open until the user leaves. */
export interface SuggestionRoute extends FetchState<OpenSuggestion> {
  screen: 'suggestion';
  target: string;
  /** The step in progress, until the suggestion is there. */
  step: string | null;
  choices: ColumnChoices;
  /** The choices differ from the saved ones. */
  changed: boolean;
  trial: TrialResult | null;
  trying: boolean;
  editing: 'value' | 'reason';
  typing: TextEdit | null;
  list: ListState;
}

export function rowsOf({ found, choices, trial }: SuggestionRoute): SuggestionRow[] {
  return found ? suggestionRows({ ...found, choices, trial }) : [];
}

export function selectedRow(route: SuggestionRoute): SuggestionRow | null {
  return selectedItem(rowsOf(route), ({ column }) => column, route.list);
}
