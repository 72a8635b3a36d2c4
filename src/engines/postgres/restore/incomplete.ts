import type { MissingParts } from '../../../results/load-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { type Differences, rowsText } from './check.ts';

/** Code of the error of a restore that is not complete, whose database stays to be inspected. */
const INCOMPLETE = 'restore_incomplete';

/** Returns what a restore that went on after errors lacks; `null` when it is complete. */
export function missingParts({ rows, objects }: Differences, errors: string[]): MissingParts | null {
  if (rows.length === 0 && objects.length === 0 && errors.length === 0) return null;
  return {
    objects: objects.length,
    tables: rows.length,
    rows: rows.reduce((sum, { expected, found }) => sum + Math.max(0, expected - (found ?? 0)), 0),
    differences: [...objects, ...rows.map(rowsText)],
    errors,
  };
}

/** `2 objects and 5 rows of 1 table` */
function missingText({ objects, tables, rows, errors }: MissingParts): string {
  const counts = [
    ...(objects > 0 ? [formatNumberOf(objects, 'object')] : []),
    ...(tables > 0 ? [`${formatNumberOf(rows, 'row')} of ${formatNumberOf(tables, 'table')}`] : []),
  ];
  return counts.length > 0 ? counts.join(' and ') : `the result of ${formatNumberOf(errors.length, 'statement')}`;
}

export function incompleteMessage(missing: MissingParts): string {
  return `The restored database lacks ${missingText(missing)}`;
}

/** The database stays under its name, with its mark, until the next load into the destination removes it. */
export function restoreIncomplete(
  missing: MissingParts,
  { shadow, destination }: { shadow: string; destination: string },
): UserError {
  return new UserError(INCOMPLETE, `${incompleteMessage(missing)}, so it was not swapped in`, {
    details: [...missing.differences, ...missing.errors],
    hint: `${destination} is unchanged. Inspect the restored database ${shadow}; the next load into ${destination} removes it. To replace ${destination} all the same, load with --keep-going --accept-missing.`,
  });
}

export function isIncomplete(error: unknown): boolean {
  return error instanceof UserError && error.code === INCOMPLETE;
}
