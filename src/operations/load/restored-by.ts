import type { RestoringUser } from '../../engines/facets/restore.ts';
import type { RestoredBy } from '../../results/load-results.ts';

/** Returns the part of every plan with a restore that names the restoring user. */
export function restoredBy(by: RestoringUser): RestoredBy {
  return by.user === 'temporary'
    ? { restored_by: 'temporary_user', restored_by_reason: 'it has no rights outside the shadow database' }
    : { restored_by: 'loading_user', restored_by_reason: by.reason };
}
