import type { RehearsalResult } from '../../results/review/rehearsal-results.ts';
import { defineOperation } from '../operation.ts';
import { rehearsalExpectedSteps } from './expected-steps.ts';
import type { PlannedRehearsal, RehearseRequest } from './rehearse.ts';
import { rehearsalSummary, rehearseQuestion } from './text.ts';

export const rehearseOperation = defineOperation<RehearseRequest, PlannedRehearsal, RehearsalResult>({
  id: 'rehearse',
  kind: 'branch',
  work: async () => {
    const { applyRehearsal, planRehearsal } = await import('./rehearse.ts');
    return { plan: planRehearsal, apply: applyRehearsal };
  },
  question: rehearseQuestion,
  asks: () => false,
  steps: rehearsalExpectedSteps,
  summary: rehearsalSummary,
});
