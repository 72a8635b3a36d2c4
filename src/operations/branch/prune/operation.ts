import type { BranchPruneResult } from '../../../results/branch-results.ts';
import { defineOperation } from '../../operation.ts';
import type { BranchPruneRequest, PlannedBranchPrune } from './prune.ts';
import { branchPruneQuestion, branchPruneSummary } from './text.ts';

export const branchPruneOperation = defineOperation<BranchPruneRequest, PlannedBranchPrune, BranchPruneResult>({
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
