import type { SaveRemoval, SaveResult } from '../../results/saves/save-results.ts';
import { contentOf, dumpSteps } from '../expected-steps.ts';
import { defineOperation } from '../operation.ts';
import type { PlannedSaveRemoval, RemoveSaveRequest } from './remove-save.ts';
import type { PlannedSave, SaveRequest } from './save.ts';
import { saveQuestion, saveRemovalQuestion, saveRemovalSummary, saveSummary } from './text.ts';

export const saveOperation = defineOperation<SaveRequest, PlannedSave, SaveResult>({
  id: 'save',
  kind: 'save',
  work: async () => {
    const { applySave, planSave } = await import('./save.ts');
    return { plan: planSave, apply: applySave };
  },
  question: saveQuestion,
  asks: () => false,
  summary: saveSummary,
  sanitized: () => null,
  steps: ({ name, destination }) => [
    ...dumpSteps(contentOf(null), destination),
    { step: 'store', label: `Store save ${name}`, ms: 30 },
  ],
});

export const saveRemovalOperation = defineOperation<RemoveSaveRequest, PlannedSaveRemoval, SaveRemoval>({
  id: 'save',
  kind: 'remove',
  work: async () => {
    const { applySaveRemoval, planSaveRemoval } = await import('./remove-save.ts');
    return { plan: planSaveRemoval, apply: applySaveRemoval };
  },
  question: saveRemovalQuestion,
  summary: saveRemovalSummary,
});
