import type { Diagnosis } from '../../src/operations/configuration/fix.ts';
import type { ListState } from '../../src/state/list.ts';
import type { Fetched } from '../app/fetched.ts';
import { selectedItem } from '../app/in-view.ts';
import { type DoctorRow, doctorRows } from './rows.ts';

declare module '../app/route.ts' {
  interface Routes {
    doctor: DoctorRoute;
  }
}

export interface DoctorRoute extends Fetched<Diagnosis> {
  screen: 'doctor';
  /** The result of the check before, shown until the new one is there. */
  before: Diagnosis | null;
  list: ListState;
}

export function shownDiagnosis({ found, before }: DoctorRoute): Diagnosis | null {
  return found ?? before;
}

export function rowsOf(route: DoctorRoute): DoctorRow[] {
  const diagnosis = shownDiagnosis(route);
  return diagnosis ? doctorRows(diagnosis) : [];
}

export function selectedFinding(route: DoctorRoute): DoctorRow | null {
  return selectedItem(rowsOf(route), ({ id }) => id, route.list);
}
