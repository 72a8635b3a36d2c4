import { type CheckRow, checkRows } from '../../src/operations/configuration/check/check-text.ts';
import type { CheckWithFixes } from '../../src/operations/configuration/fix.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { selectedItem } from '../app/lists/in-view.ts';

export interface CheckRoute extends FetchState<CheckWithFixes> {
  screen: 'check';
  /** The result of the check before, shown until the new one is there. */
  before: CheckWithFixes | null;
  list: ListState;
}

export function shownCheck({ found, before }: CheckRoute): CheckWithFixes | null {
  return found ?? before;
}

export function rowsOf(route: CheckRoute): CheckRow[] {
  const diagnosis = shownCheck(route);
  return diagnosis ? checkRows(diagnosis) : [];
}

export function selectedProblem(route: CheckRoute): CheckRow | null {
  return selectedItem(rowsOf(route), ({ id }) => id, route.list);
}
