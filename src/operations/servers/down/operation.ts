import type { DownResult } from '../../../results/server-results.ts';
import { defineOperation } from '../../operation.ts';
import type { DownRequest, PlannedDown } from './down.ts';
import { downQuestion, downSummary } from './text.ts';

export const downOperation = defineOperation<DownRequest, PlannedDown, DownResult>({
  id: 'down',
  kind: 'server',
  work: async () => {
    const { applyDown, planDown } = await import('./down.ts');
    return { plan: planDown, apply: applyDown };
  },
  question: downQuestion,
  summary: downSummary,
});
