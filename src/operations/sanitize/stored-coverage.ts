import type { StoredCoverage } from '../../results/manifest/stored-coverage.ts';
import type { Coverage } from '../../results/review/sanitize-results.ts';

const MOST_UNCHANGED = 1000;

/** Columns that hold values of others do not look personal themselves, but are left to change. */
export function coverageToStore({ findings, acknowledged, changed }: Coverage): StoredCoverage {
  const own = findings.filter(({ state }) => state !== 'leaked');
  return {
    columns: own.length + acknowledged.length + changed.length,
    changed: changed.length,
    kept: acknowledged.length,
    unchanged: findings.slice(0, MOST_UNCHANGED).map(({ column }) => column),
  };
}
