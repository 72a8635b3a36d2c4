import type { PrunePlan } from '../../results/results.ts';
import { defineOperation } from '../operation.ts';
import type { PlannedPrune, PruneRequest } from './prune.ts';
import { pruneQuestion, pruneSummary, removedBy } from './text.ts';

export const pruneOperation = defineOperation<PruneRequest, PlannedPrune, PrunePlan>({
  id: 'prune',
  kind: 'remove',
  work: async () => {
    const { applyPrune, planPrune } = await import('./prune.ts');
    return { plan: planPrune, apply: applyPrune };
  },
  question: pruneQuestion,
  asks: (plan) => removedBy(plan) > 0,
  summary: pruneSummary,
});
