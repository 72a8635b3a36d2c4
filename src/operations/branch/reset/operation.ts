import { defineOperation } from '../../operation.ts';
import { branchResetQuestion, branchResetSummary } from './text.ts';

export const branchResetOperation = defineOperation({
  id: 'branch reset',
  kind: 'branch',
  work: async () => {
    const { applyBranchReset, planBranchReset } = await import('./reset.ts');
    return { plan: planBranchReset, apply: applyBranchReset };
  },
  question: branchResetQuestion,
  summary: branchResetSummary,
  replaces: ({ destination, branches: [first] }) =>
    first ? { database: { ...destination, database: first.database }, bySwap: false } : null,
});
