import type { DropCopiesResult } from '../../results/load-results.ts';
import { defineOperation } from '../operation.ts';
import type { DropCopiesRequest, PlannedDropCopies } from './drop-copies.ts';
import { dropCopiesQuestion, dropCopiesSummary } from './text.ts';

/** `tool reset TARGET --drop`. */
export const dropCopiesOperation = defineOperation<DropCopiesRequest, PlannedDropCopies, DropCopiesResult>({
  id: 'drop copies',
  kind: 'reset',
  work: async () => {
    const { applyDropCopies, planDropCopies } = await import('./drop-copies.ts');
    return { plan: planDropCopies, apply: applyDropCopies };
  },
  question: dropCopiesQuestion,
  summary: dropCopiesSummary,
});
