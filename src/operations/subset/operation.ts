import { defineOperation } from '../operation.ts';
import { subsetExpectedSteps } from './expected-steps.ts';
import { subsetQuestion, subsetSummary, subsetTitle } from './text.ts';

export const subsetOperation = defineOperation({
  id: 'subset',
  kind: 'subset',
  work: async () => {
    const { applySubset, planSubset } = await import('./subset.ts');
    return { plan: planSubset, apply: applySubset };
  },
  question: subsetQuestion,
  title: subsetTitle,
  summary: subsetSummary,
  replaces: ({ destination }) => ({ database: destination, bySwap: true }),
  steps: subsetExpectedSteps,
  alike: ({ target, destination }) => ({ operation: 'subset', target, to: destination.url }),
});
