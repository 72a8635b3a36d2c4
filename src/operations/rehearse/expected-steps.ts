import type { RehearsalPlan } from '../../results/review/rehearsal-results.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { branchExpectedSteps } from '../branch/create/expected-steps.ts';
import { upSteps } from '../servers/up/text.ts';

/** A migration may take any time: the figure gives its step a part of the bar. */
const WORK_MS = 1000;
const STATE_MS = 400;

export function rehearsalExpectedSteps(plan: RehearsalPlan): ExpectedStep[] {
  return [
    ...(plan.server ? upSteps(plan.server) : branchExpectedSteps(plan)),
    { step: 'observe', label: 'Read the state before', ms: STATE_MS },
    ...plan.works.map(({ run }) => ({ step: 'work', label: `Run ${run}`, ms: WORK_MS })),
    { step: 'compare', label: 'Compare with the state before', ms: STATE_MS },
  ];
}
