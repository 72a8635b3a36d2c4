import type { ExpectedStep } from '../../state/overall-progress.ts';
import { assumedSteps, dumpSteps, type ExpectedContent } from '../expected-steps.ts';

export function buildExpectedSteps(target: string, content: ExpectedContent): ExpectedStep[] {
  return assumedSteps([...dumpSteps(content, target), { step: 'store', label: 'Store the snapshot', ms: 30 }], content);
}
