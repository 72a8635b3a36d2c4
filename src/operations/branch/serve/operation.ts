import { defineOperation } from '../../operation.ts';
import { branchServeQuestion, branchServeSummary } from './text.ts';

export const branchServeOperation = defineOperation({
  id: 'branch serve',
  kind: 'branch',
  work: async () => {
    const { applyBranchServe, planBranchServe } = await import('./serve.ts');
    return { plan: planBranchServe, apply: applyBranchServe };
  },
  question: branchServeQuestion,
  summary: branchServeSummary,
});
