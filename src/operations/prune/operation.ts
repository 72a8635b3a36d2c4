import { defineOperation } from '../operation.ts';
import { pruneQuestion, pruneSummary, removedBy } from './text.ts';

export const pruneOperation = defineOperation({
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
