import { methodOf } from '../history/load-method.ts';
import { defineOperation } from '../operation.ts';
import { loadExpectedSteps } from './expected-steps.ts';
import { loadQuestion, loadSummary, loadTitle } from './text.ts';

export const loadOperation = defineOperation({
  id: 'load',
  kind: 'load',
  work: async () => {
    const { applyLoad, planLoad } = await import('./load.ts');
    return { plan: planLoad, apply: applyLoad };
  },
  question: loadQuestion,
  title: loadTitle,
  summary: loadSummary,
  replaces: ({ destination, strategy }) => ({
    database: destination,
    bySwap: strategy === 'swap' || strategy === 'rows',
  }),
  sanitized: ({ sanitized }) => sanitized,
  steps: loadExpectedSteps,
  alike: (plan) => ({
    ...{ operation: plan.save === undefined ? 'load' : 'back', target: plan.target, to: plan.destination.url },
    ...{ method: methodOf(plan), bytes: plan.size_bytes },
  }),
});
