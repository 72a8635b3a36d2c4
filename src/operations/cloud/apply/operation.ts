import { defineOperation } from '../../operation.ts';
import { applyQuestion, applySummary } from './text.ts';

export const cloudApplyOperation = defineOperation({
  id: 'cloud apply',
  kind: 'apply',
  work: async () => {
    const { applyCloudFile, planCloudFile } = await import('./apply.ts');
    return { plan: planCloudFile, apply: applyCloudFile };
  },
  question: applyQuestion,
  asks: ({ resources }) => resources.some(({ action }) => action !== 'unchanged'),
  summary: ({ plan }) => applySummary(plan),
});
