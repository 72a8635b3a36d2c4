import { defineOperation } from '../../operation.ts';
import { branchDropQuestion, branchDropSummary } from './text.ts';

export const branchDropOperation = defineOperation({
  id: 'branch drop',
  kind: 'branch',
  work: async () => {
    const { applyBranchDrop, planBranchDrop } = await import('./drop.ts');
    return { plan: planBranchDrop, apply: applyBranchDrop };
  },
  question: branchDropQuestion,
  summary: branchDropSummary,
});
