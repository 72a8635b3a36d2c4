import type { LoadPlan } from '../load-results.ts';

/** The warning of a plan to load, as a superuser, what somebody else has built: it is confirmed by typing. */
export const FOREIGN_SUPERUSER = 'foreign_code_as_superuser';

export function isForeign({ warnings }: Pick<LoadPlan, 'warnings'>): boolean {
  return warnings.some(({ code }) => code === FOREIGN_SUPERUSER);
}
