import type { Diagnosis } from '../../src/operations/configuration/fix.ts';
import { selectedIndex } from '../../src/state/list.ts';
import type { DoctorRoute } from '../app/route.ts';
import { type DoctorRow, doctorRows } from './rows.ts';

/** What was found, or was before it is looked at anew. */
export function shownDiagnosis({ found, before }: DoctorRoute): Diagnosis | null {
  return found ?? before;
}

export function rowsOf(route: DoctorRoute): DoctorRow[] {
  const diagnosis = shownDiagnosis(route);
  return diagnosis ? doctorRows(diagnosis) : [];
}

export function selectedFinding(route: DoctorRoute): DoctorRow | null {
  const rows = rowsOf(route);
  const ids = rows.map(({ id }) => id);
  return rows[selectedIndex(ids, route.list.selected)] ?? null;
}
