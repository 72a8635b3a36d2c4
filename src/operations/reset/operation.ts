import type { ResetResult } from '../../results/load-results.ts';
import { defineOperation } from '../operation.ts';
import { resetExpectedSteps } from './expected-steps.ts';
import type { PlannedReset, ResetRequest } from './reset.ts';
import { resetQuestion, resetSummary, resetTitle } from './text.ts';

export const resetOperation = defineOperation<ResetRequest, PlannedReset, ResetResult>({
  id: 'reset',
  kind: 'reset',
  work: async () => {
    const { applyReset, planReset } = await import('./reset.ts');
    return { plan: planReset, apply: applyReset };
  },
  question: resetQuestion,
  title: resetTitle,
  summary: resetSummary,
  replaces: ({ destination, way }) => ({ database: destination, bySwap: way === 'copy' }),
  steps: resetExpectedSteps,
  alike: ({ target, destination }) => ({ operation: 'reset', target, to: destination.url }),
});
