import { profileOfScheme } from '../../engines/list.ts';
import type { SubsetPlanResult } from '../../results/subset-results.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { contentOf, swapStep } from '../expected-steps.ts';

/** Rows that are found and copied in a millisecond. */
const ROWS_PER_MS = 320;
/** Rows of the source that are looked through in one. */
const READ_PER_MS = 1050;

export function subsetExpectedSteps({ source, destination, tables }: SubsetPlanResult): ExpectedStep[] {
  const engine = profileOfScheme(source.split(':', 1)[0] ?? '')?.id ?? 'postgres';
  const all = tables.reduce((sum, { rows_now }) => sum + rows_now, 0);
  const taken = tables.reduce((sum, { rows_expected, rows_now }) => sum + (rows_expected ?? rows_now / 10), 0);
  return [
    { step: 'read', label: 'Select the rows', ms: 60 + all / READ_PER_MS },
    { step: 'prepare', label: 'Create a shadow database', ms: 80 },
    { step: 'copy', label: 'Copy the rows', ms: 100 + tables.length * 10 + taken / ROWS_PER_MS },
    { step: 'index', label: 'Build indexes and constraints', ms: 80 + taken / 600 },
    { step: 'finish', label: 'Gather statistics', ms: 50 + taken / 1500 },
    { step: 'prove', label: 'Verify foreign keys', ms: 20 + taken / 5000 },
    swapStep(destination.database, { ...contentOf(null, engine), tables: tables.length }),
  ];
}
