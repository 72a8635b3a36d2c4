import type { SanitizePlan } from '../../results/review/sanitize-results.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { formatNumberOf } from '../../text/format.ts';
import { buildExpectedSteps } from '../build/expected-steps.ts';
import { contentOf, dumpSteps, type ExpectedContent, restoreSteps, stepsOn, swapStep } from '../expected-steps.ts';

/** The first read of new rows takes longer: a server marks them as visible. */
const FIRST_READ = 1.4;

/** Without a given content that of the original, which is built first where the plan has none. */
export function sanitizeExpectedSteps(plan: SanitizePlan, content = contentOf(plan.snapshot)): ExpectedStep[] {
  const { destination, query, target, snapshot } = plan;
  return stepsOn(content, (known) => [
    ...(snapshot ? [] : buildExpectedSteps(target, known)),
    ...restoreSteps(known),
    ...queryWork(query.statements.length, known),
    ...dumpSteps({ ...known, bytes: known.bytes * FIRST_READ }, 'the sanitized database'),
    { step: 'leaks', label: 'Search the result for original values', ms: 60 + known.bytes / 350_000 },
    { step: 'traces', label: 'Remove remnants of the old values', ms: 150 },
    ...(destination ? [swapStep(destination.database, known)] : []),
    { step: 'store', label: 'Store the sanitized snapshot', ms: 30 },
  ]);
}

function queryWork(statements: number, { bytes, tables }: ExpectedContent): ExpectedStep[] {
  const search = 100 + tables * 5 + bytes / 900_000;
  return [
    { step: 'survey', label: 'Search for personal data', ms: search },
    { step: 'query', label: `Run ${formatNumberOf(statements, 'statement')}`, ms: 50 + bytes / 1_000_000 },
    { step: 'coverage', label: 'Compare the columns with their old values', ms: search * 1.2 },
  ];
}
