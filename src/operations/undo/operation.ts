import { defineOperation } from '../operation.ts';
import { undoQuestion, undoSummary, undoTitle } from './text.ts';

export const undoOperation = defineOperation({
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
