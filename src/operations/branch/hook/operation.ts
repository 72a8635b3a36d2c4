import { defineOperation } from '../../operation.ts';
import { branchHookQuestion, branchHookSummary } from './text.ts';

export const branchHookOperation = defineOperation({
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
