import { defineOperation } from '../operation.ts';
import { dropCopiesQuestion, dropCopiesSummary } from './text.ts';

/** `tool reset TARGET --drop`. */
export const dropCopiesOperation = defineOperation({
  id: 'drop copies',
  kind: 'reset',
  work: async () => {
    const { applyDropCopies, planDropCopies } = await import('./drop-copies.ts');
    return { plan: planDropCopies, apply: applyDropCopies };
  },
  question: dropCopiesQuestion,
  summary: dropCopiesSummary,
});
