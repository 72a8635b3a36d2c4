import { defineOperation } from '../../operation.ts';
import { branchSwitchQuestion, branchSwitchSummary } from './text.ts';

export const branchSwitchOperation = defineOperation({
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
