import { defineOperation } from '../operation.ts';
import { removeQuestion, removeSummary, removeTitle } from './text.ts';

export const removeOperation = defineOperation({
  id: 'rm',
  kind: 'remove',
  work: async () => {
    const { applyRemove, planRemove } = await import('./remove.ts');
    return { plan: planRemove, apply: applyRemove };
  },
  question: removeQuestion,
  title: removeTitle,
  summary: removeSummary,
  sanitized: ({ snapshot }) => snapshot.sanitized,
});
