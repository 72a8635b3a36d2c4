import type { ReconcileResult } from '../../results/cloud-results.ts';
import { formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

/** `rewrapped`: data keys that were encrypted with an older hub key. */
export function migratedText({ migrations, rewrapped }: { migrations: string[]; rewrapped: number }): string {
  return [
    migrations.length > 0 ? `Executed: ${migrations.join(', ')}` : 'The schema is up to date',
    ...(rewrapped > 0 ? [`Wrapped ${formatNumberOf(rewrapped, 'data key')} with the newest hub key`] : []),
  ].join('\n');
}

export function reconciledText(result: ReconcileResult): string {
  const { targets, imported, missing, restored, objects_added, objects_missing } = result;
  const list = (label: string, snapshots: ReconcileResult['imported']): string[] =>
    snapshots.map(({ target, snapshot }) => `${label} ${printable(target)} ${snapshot}`);
  return [
    `Compared ${formatNumberOf(targets, 'target')} with their buckets`,
    ...list('Imported', imported),
    ...list('Missing in the bucket, no longer offered:', missing),
    ...list('Complete again, offered:', restored),
    ...(objects_added > 0 ? [`Added ${formatNumberOf(objects_added, 'object')} without a row in the database`] : []),
    ...(objects_missing > 0 ? [`Marked ${formatNumberOf(objects_missing, 'object')} missing in the bucket`] : []),
  ].join('\n');
}

export const TRIAL_ENDED = 'The trial has ended. Its database was removed.';
