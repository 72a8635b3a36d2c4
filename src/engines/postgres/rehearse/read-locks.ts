import type { LockRow } from '../../shared/rehearse/lock-record.ts';
import { quoteText } from '../connection/quote.ts';
import type { Wire } from '../connection/wire.ts';

/** Stronger than that of statements which change rows, weakest first. https://www.postgresql.org/docs/current/explicit-locking.html */
export const STRONG_MODES = [
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
];

/** `AccessExclusiveLock` is ACCESS EXCLUSIVE. */
export function modeText(mode: string): string {
  return mode
    .replace(/Lock$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toUpperCase();
}

/** Reads the locks of this database only. */
const PREPARE = `PREPARE strong_locks AS
  SELECT coalesce(json_agg(json_build_array(pid, relation::int8, mode)), '[]') FROM pg_locks
  WHERE locktype = 'relation' AND granted AND pid <> pg_backend_pid()
    AND mode IN (${STRONG_MODES.map(quoteText).join(', ')})
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

export function prepareLocks(wire: Wire): Promise<void> {
  return wire.execute(PREPARE);
}

export async function readLocks(wire: Wire): Promise<LockRow<number>[]> {
  const [text = '[]'] = await wire.query('EXECUTE strong_locks');
  return JSON.parse(text) as LockRow<number>[];
}
