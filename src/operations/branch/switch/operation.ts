import type { BranchSwitchResult } from '../../../results/branch-results.ts';
import { defineOperation } from '../../operation.ts';
import type { BranchSwitchRequest, PlannedBranchSwitch } from './switch.ts';
import { branchSwitchQuestion, branchSwitchSummary } from './text.ts';

export const branchSwitchOperation = defineOperation<BranchSwitchRequest, PlannedBranchSwitch, BranchSwitchResult>({
  id: 'branch switch',
  kind: 'branch',
  work: async () => {
    const { applyBranchSwitch, planBranchSwitch } = await import('./switch.ts');
    return { plan: planBranchSwitch, apply: applyBranchSwitch };
  },
  question: branchSwitchQuestion,
  summary: branchSwitchSummary,
  replaces: ({ destination }) => ({ database: destination, bySwap: true }),
});
