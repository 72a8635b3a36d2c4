import type { BranchServeResult } from '../../../results/branch-results.ts';
import { defineOperation } from '../../operation.ts';
import type { BranchServeRequest, PlannedBranchServe } from './serve.ts';
import { branchServeQuestion, branchServeSummary } from './text.ts';

export const branchServeOperation = defineOperation<BranchServeRequest, PlannedBranchServe, BranchServeResult>({
  id: 'branch serve',
  kind: 'branch',
  work: async () => {
    const { applyBranchServe, planBranchServe } = await import('./serve.ts');
    return { plan: planBranchServe, apply: applyBranchServe };
  },
  question: branchServeQuestion,
  summary: branchServeSummary,
});
