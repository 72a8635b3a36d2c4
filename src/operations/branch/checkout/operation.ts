import { defineOperation } from '../../operation.ts';
import { branchCheckoutQuestion, branchCheckoutSummary } from './text.ts';

export const branchCheckoutOperation = defineOperation({
  id: 'branch checkout',
  kind: 'branch',
  work: async () => {
    const { applyBranchCheckout, planBranchCheckout } = await import('./checkout.ts');
    return { plan: planBranchCheckout, apply: applyBranchCheckout };
  },
  question: branchCheckoutQuestion,
  asks: ({ action }) => action !== 'none',
  summary: branchCheckoutSummary,
});
