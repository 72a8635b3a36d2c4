import type { ExpectedStep } from '../../state/overall-progress.ts';
import { dumpSteps, type ExpectedContent, stepsOn } from '../expected-steps.ts';

export function buildExpectedSteps(target: string, content: ExpectedContent): ExpectedStep[] {
  const store = { step: 'store', label: 'Store the snapshot', ms: 30 };
  return stepsOn(content, (known) => [...dumpSteps(known, target), store]);
}
