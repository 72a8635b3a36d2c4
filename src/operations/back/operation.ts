import type { BackPlan, BackResult } from '../../results/saves/save-results.ts';
import { branchResetOperation } from '../branch/reset/operation.ts';
import { loadOperation } from '../load/operation.ts';
import { defineOperation } from '../operation.ts';
import { resetOperation } from '../reset/operation.ts';
import { undoOperation } from '../undo/operation.ts';
import type { BackRequest, PlannedBack } from './back.ts';
import { partQuestion } from './part-text.ts';

/** One of several operations, by the point: question and summary are those of the reset, the undo or the load. */
export const backOperation = defineOperation<BackRequest, PlannedBack, BackResult>({
  id: 'back',
  kind: 'load',
  work: async () => {
    const { applyBack, planBack } = await import('./back.ts');
    return { plan: planBack, apply: applyBack };
  },
  question: (plan, now) => {
    const { load, reset, undo, branch_reset: ofBranch } = plan;
    if (ofBranch) return branchResetOperation.question(ofBranch, now);
    if (reset) return resetOperation.question(reset, now);
    if (undo) return undoOperation.question(undo, now);
    const question = loadOperation.question(ofSave(load), now);
    return plan.part ? partQuestion(plan, question) : question;
  },
  summary: ({ load, reset, branch_reset: ofBranch }, plan) => {
    if (ofBranch && plan.branch_reset) return branchResetOperation.summary(ofBranch, plan.branch_reset);
    if (reset && plan.reset) return resetOperation.summary(reset, plan.reset);
    if (!load) throw new Error('there is no result');
    return plan.undo ? undoOperation.summary(load, plan.undo) : loadOperation.summary(load, ofSave(plan.load));
  },
  replaces: ({ load, reset, undo, branch_reset: ofBranch }) => {
    if (ofBranch) return branchResetOperation.replaces?.(ofBranch) ?? null;
    if (reset) return resetOperation.replaces?.(reset) ?? null;
    return (undo ? undoOperation.replaces?.(undo) : loadOperation.replaces?.(ofSave(load))) ?? null;
  },
  sanitized: () => null,
  steps: ({ load, reset, undo, branch_reset: ofBranch }) => {
    if (ofBranch) return [];
    if (reset) return resetOperation.steps?.(reset) ?? [];
    return (undo ? undoOperation.steps?.(undo) : loadOperation.steps?.(ofSave(load))) ?? [];
  },
});

function ofSave(load: BackPlan['load']) {
  if (!load) throw new Error('there is no plan');
  return load;
}
