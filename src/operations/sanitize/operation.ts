import { defineOperation } from '../operation.ts';
import { sanitizeExpectedSteps } from './expected-steps.ts';
import { sanitizeQuestion, sanitizeSummary, sanitizeTitle } from './text.ts';

export const sanitizeOperation = defineOperation({
  id: 'sanitize',
  kind: 'sanitize',
  work: async () => {
    const { applySanitize, planSanitize } = await import('./sanitize.ts');
    return { plan: planSanitize, apply: applySanitize };
  },
  question: sanitizeQuestion,
  asks: ({ destination }) => destination?.exists === true,
  title: sanitizeTitle,
  summary: sanitizeSummary,
  replaces: ({ destination }) => destination && { database: destination, bySwap: true },
  // Original data until it has ended.
  sanitized: () => null,
  steps: (plan) => sanitizeExpectedSteps(plan),
  alike: ({ target }) => ({ operation: 'sanitize', target }),
});
