import { defineOperation } from '../../operation.ts';
import type { ApplyRequest, ApplyResult, PlannedApply } from './apply.ts';
import { applyQuestion, applySummary } from './text.ts';

export const cloudApplyOperation = defineOperation<ApplyRequest, PlannedApply, ApplyResult>({
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
