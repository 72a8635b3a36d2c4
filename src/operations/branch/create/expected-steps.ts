import type { BranchCreatePlan } from '../../../results/branch-results.ts';
import type { ExpectedStep } from '../../../state/overall-progress.ts';
import { contentOf, copyStep, restoreSteps } from '../../expected-steps.ts';

/** The steps that make branches, after those that load a base copy where there is none. */
export function branchExpectedSteps({ base, load, branches }: BranchCreatePlan): ExpectedStep[] {
  const content = contentOf(load);
  const bytes = base?.size_bytes ?? content.bytes;
  return [
    ...(load ? restoreSteps(content) : []),
    ...branches.map(({ name, database }) =>
      copyStep(`branch ${name}`, `Create branch ${name} as ${database}`, { ...content, bytes }),
    ),
  ];
}
