import type { CheckWithFixes } from '../../src/operations/configuration/fix.ts';
import { type CheckRow, checkRows } from '../../src/presentation/check.ts';
import type { ListState } from '../../src/state/list.ts';
import type { Fetched } from '../app/fetched.ts';
import { selectedItem } from '../app/in-view.ts';

declare module '../app/route.ts' {
  interface Routes {
    doctor: DoctorRoute;
  }
}

export interface DoctorRoute extends Fetched<CheckWithFixes> {
  screen: 'doctor';
  /** The result of the check before, shown until the new one is there. */
  before: CheckWithFixes | null;
  list: ListState;
}

export function shownDiagnosis({ found, before }: DoctorRoute): CheckWithFixes | null {
  return found ?? before;
}

export function rowsOf(route: DoctorRoute): CheckRow[] {
  const diagnosis = shownDiagnosis(route);
  return diagnosis ? checkRows(diagnosis) : [];
}

export function selectedFinding(route: DoctorRoute): CheckRow | null {
  return selectedItem(rowsOf(route), ({ id }) => id, route.list);
}
