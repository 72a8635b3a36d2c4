import type { BranchDropResult } from '../../../results/branch-results.ts';
import { defineOperation } from '../../operation.ts';
import type { BranchDropRequest, PlannedBranchDrop } from './drop.ts';
import { branchDropQuestion, branchDropSummary } from './text.ts';

export const branchDropOperation = defineOperation<BranchDropRequest, PlannedBranchDrop, BranchDropResult>({
  id: 'branch drop',
  kind: 'branch',
  work: async () => {
    const { applyBranchDrop, planBranchDrop } = await import('./drop.ts');
    return { plan: planBranchDrop, apply: applyBranchDrop };
  },
  question: branchDropQuestion,
  summary: branchDropSummary,
});
