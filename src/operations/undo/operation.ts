import type { LoadResult } from '../../results/load-results.ts';
import { defineOperation } from '../operation.ts';
import { undoQuestion, undoSummary, undoTitle } from './text.ts';
import type { PlannedUndo, UndoRequest } from './undo.ts';

export const undoOperation = defineOperation<UndoRequest, PlannedUndo, LoadResult>({
  id: 'undo',
  kind: 'undo',
  work: async () => {
    const { applyUndo, planUndo } = await import('./undo.ts');
    return { plan: planUndo, apply: applyUndo };
  },
  question: undoQuestion,
  title: undoTitle,
  summary: undoSummary,
  replaces: ({ destination }) => ({ database: destination, bySwap: true }),
  steps: ({ destination: { database } }) => [{ step: 'swap', label: `Restore the previous ${database}`, ms: 200 }],
});
