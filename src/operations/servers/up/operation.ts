import type { UpResult } from '../../../results/server-results.ts';
import { defineOperation } from '../../operation.ts';
import { upQuestion, upSteps, upSummary } from './text.ts';
import type { PlannedUp, UpRequest } from './up.ts';

export const upOperation = defineOperation<UpRequest, PlannedUp, UpResult>({
  id: 'up',
  kind: 'server',
  work: async () => {
    const { applyUp, planUp } = await import('./up.ts');
    return { plan: planUp, apply: applyUp };
  },
  question: upQuestion,
  asks: () => false,
  steps: upSteps,
  summary: upSummary,
});
