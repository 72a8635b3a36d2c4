import type { Diagnosis } from '../../src/operations/configuration/fix.ts';
import { selectedIndex } from '../../src/state/list.ts';
import type { DoctorPlace } from '../app/place.ts';
import { type DoctorRow, doctorRows } from './rows.ts';

/** What was found, or was before it is looked at anew. */
export function shownDiagnosis({ found, before }: DoctorPlace): Diagnosis | null {
  return found ?? before;
}

export function rowsOf(place: DoctorPlace): DoctorRow[] {
  const diagnosis = shownDiagnosis(place);
  return diagnosis ? doctorRows(diagnosis) : [];
}

export function selectedFinding(place: DoctorPlace): DoctorRow | null {
  const rows = rowsOf(place);
  const ids = rows.map(({ id }) => id);
  return rows[selectedIndex(ids, place.list.selected)] ?? null;
}
