import type { BranchHookResult } from '../../../results/branch-results.ts';
import { defineOperation } from '../../operation.ts';
import type { BranchHookRequest, PlannedBranchHook } from './hook.ts';
import { branchHookQuestion, branchHookSummary } from './text.ts';

export const branchHookOperation = defineOperation<BranchHookRequest, PlannedBranchHook, BranchHookResult>({
  id: 'branch hook',
  kind: 'branch',
  work: async () => {
    const { applyBranchHook, planBranchHook } = await import('./hook.ts');
    return { plan: planBranchHook, apply: applyBranchHook };
  },
  question: branchHookQuestion,
  asks: ({ action }) => action !== 'none',
  summary: branchHookSummary,
});
