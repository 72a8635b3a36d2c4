import { defineOperation } from '../../operation.ts';
import { branchPruneQuestion, branchPruneSummary } from './text.ts';

export const branchPruneOperation = defineOperation({
  id: 'branch prune',
  kind: 'branch',
  work: async () => {
    const { applyBranchPrune, planBranchPrune } = await import('./prune.ts');
    return { plan: planBranchPrune, apply: applyBranchPrune };
  },
  question: branchPruneQuestion,
  asks: ({ targets }) => targets.some(({ branches }) => branches.length > 0),
  summary: branchPruneSummary,
});
