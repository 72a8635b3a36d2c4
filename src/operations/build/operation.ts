import { defineOperation } from '../operation.ts';
import { sanitizeExpectedSteps } from '../sanitize/expected-steps.ts';
import { buildExpectedSteps } from './expected-steps.ts';
import { buildQuestion, buildRunTitle, buildSummary } from './text.ts';

export const buildOperation = defineOperation({
  id: 'build',
  kind: 'build',
  work: async () => {
    const { applyBuild, planBuild } = await import('./planned-build.ts');
    return { plan: planBuild, apply: applyBuild };
  },
  question: buildQuestion,
  // Only the database of the sanitization can be replaced.
  asks: ({ sanitize }) => sanitize?.destination?.exists === true,
  title: buildRunTitle,
  summary: buildSummary,
  replaces: ({ sanitize }) => (sanitize?.destination ? { database: sanitize.destination, bySwap: true } : null),
  // The result of a sanitization is not known to be one before its end.
  sanitized: ({ sanitize }) => (sanitize ? null : false),
  steps: ({ target, content, sanitize }) =>
    sanitize ? sanitizeExpectedSteps(sanitize, content) : buildExpectedSteps(target, content),
  alike: ({ target, sanitize }) => ({ operation: sanitize ? 'sanitize' : 'build', target }),
});
