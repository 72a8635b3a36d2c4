import { defineOperation } from '../../operation.ts';
import { branchExpectedSteps } from './expected-steps.ts';
import { branchCreateQuestion, branchCreateSummary } from './text.ts';

export const branchCreateOperation = defineOperation({
  id: 'branch create',
  kind: 'branch',
  work: async () => {
    const { applyBranchCreate, planBranchCreate } = await import('./create.ts');
    return { plan: planBranchCreate, apply: applyBranchCreate };
  },
  question: branchCreateQuestion,
  asks: () => false,
  steps: branchExpectedSteps,
  summary: branchCreateSummary,
});
