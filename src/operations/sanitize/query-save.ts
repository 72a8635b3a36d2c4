import type { PlannedWork } from '../operation.ts';
import type { PlannedQuerySave, QuerySaveRequest } from './save-query.ts';

/** Writes a suggested query to its file; the plan shows both texts. */
export const querySave: PlannedWork<QuerySaveRequest, PlannedQuerySave, { file: string }> = {
  id: 'save query',
  work: async () => {
    const { applyQuerySave, planQuerySave } = await import('./save-query.ts');
    return { plan: planQuerySave, apply: applyQuerySave };
  },
};
