import type { BranchCheckoutResult } from '../../../results/branch-results.ts';
import { defineOperation } from '../../operation.ts';
import type { BranchCheckoutRequest, PlannedBranchCheckout } from './checkout.ts';
import { branchCheckoutQuestion, branchCheckoutSummary } from './text.ts';

export const branchCheckoutOperation = defineOperation<
  BranchCheckoutRequest,
  PlannedBranchCheckout,
  BranchCheckoutResult
>({
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
