import type { SanitizePlan } from '../../results/review/sanitize-results.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { formatNumberOf } from '../../text/format.ts';
import { buildExpectedSteps } from '../build/expected-steps.ts';
import { assumedSteps, contentOf, dumpSteps, type ExpectedContent, restoreSteps, swapStep } from '../expected-steps.ts';

/** Without a given content that of the original, which is built first where the plan has none. */
export function sanitizeExpectedSteps(plan: SanitizePlan, content = contentOf(plan.snapshot)): ExpectedStep[] {
  const { destination, query, target, snapshot } = plan;
  const steps = [
    ...(snapshot ? [] : buildExpectedSteps(target, content)),
    ...restoreSteps(content),
    ...queryWork(query.statements.length, content),
    ...dumpSteps(content, 'the sanitized database'),
    { step: 'leaks', label: 'Search the result for original values', ms: 60 },
    { step: 'traces', label: 'Remove remnants of the old values', ms: 150 },
    ...(destination ? [swapStep(destination.database, content)] : []),
    { step: 'store', label: 'Store the sanitized snapshot', ms: 30 },
  ];
  return assumedSteps(steps, content);
}

function queryWork(statements: number, { bytes, tables }: ExpectedContent): ExpectedStep[] {
  const search = 100 + tables * 5 + bytes / 150_000;
  return [
    { step: 'survey', label: 'Search for personal data', ms: search },
    { step: 'query', label: `Run ${formatNumberOf(statements, 'statement')}`, ms: 50 + bytes / 1_000_000 },
    { step: 'coverage', label: 'Compare the columns with their old values', ms: search * 1.2 },
  ];
}
