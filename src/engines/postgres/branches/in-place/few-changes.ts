import { formatNumberOf } from '../../../../text/format.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { Readers } from '../../dump/unchanged/readers.ts';
import { type ChangedVersions, type FoundChanges, MOST_ROWS } from './changed-versions.ts';
import { type Evidence, findChanges } from './find-changes.ts';

/** Finds what has changed since the base copy was made, or returns the reason for which another way is taken. */
export async function findFewChanges(readers: Readers, evidence: Evidence): Promise<FoundChanges | string> {
  const found = await findChanges(readers, evidence);
  return typeof found === 'string' ? found : (whyLarge(found) ?? found);
}

/** `lock_not_available`, `deadlock_detected` */
const LOCKED = ['55P03', '40P01'];

/** Returns an error of the server as the reason for the other way: the transaction is rolled back with its session. */
export async function orReason<Result>(work: () => Promise<Result>): Promise<Result | string> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return LOCKED.includes(error.sqlstate)
      ? 'other sessions keep its tables locked'
      : `the server refuses: ${error.message}`;
  }
}

/** Bytes up to which exchanging rows takes less memory than a copy. */
export const MOST_BYTES = 64 * 1024 * 1024;
export const TOO_LARGE = 'the rows that have changed are too large';

function whyLarge({ tables }: FoundChanges): string | null {
  const rows = tables.reduce((sum, table) => sum + changesIn(table), 0);
  if (rows > MOST_ROWS) return `${formatNumberOf(rows, 'row')} have changed, which is too many`;
  const bytes = tables.reduce(
    (sum, table) => sum + (table.bytes * changesIn(table)) / Math.max(1, table.rows, table.fresh),
    0,
  );
  return bytes > MOST_BYTES ? TOO_LARGE : null;
}

/** An unknown number of missing rows counts as that of the fresh ones. */
function changesIn({ fresh, missing }: ChangedVersions): number {
  return fresh + (missing ?? fresh);
}
