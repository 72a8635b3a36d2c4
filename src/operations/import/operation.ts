import type { ImportPlan } from '../../results/results.ts';
import { defineOperation } from '../operation.ts';
import { importQuestion, importSummary } from './text.ts';

export const importOperation = defineOperation({
  id: 'import',
  kind: 'import',
  work: async () => {
    const { applyImport, planImport } = await import('./import.ts');
    return { plan: planImport, apply: applyImport };
  },
  question: importQuestion,
  asks: () => false,
  summary: importSummary,
  sanitized: ({ snapshot }: ImportPlan) => (snapshot === null ? false : null),
});
