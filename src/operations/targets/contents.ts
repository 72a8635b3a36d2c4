import type { DatabaseUrl } from '../../engines/database-url.ts';
import { openDatabase } from '../../engines/open-database.ts';
import type { HistoryEntry } from '../../results/history-results.ts';
import type { TargetRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { findOrigin } from '../history/origin.ts';
import { findDestinationUrl } from '../load/configured-destination.ts';
import { readFingerprints } from '../save/fingerprints.ts';
import { CHECK_TIMEOUT_MS, checkDatabase } from './check-databases.ts';

/** Proving a larger database takes longer than a look at it may. */
const PROVED_UP_TO_BYTES = 2 ** 30;

/** The row with what its destination holds. No destination that the hub names is connected to. */
export async function withContents(given: Context, { destination_missing: _, ...row }: TargetRow): Promise<TargetRow> {
  const url = row.type === 'cloud' ? null : findDestinationUrl(given.configuration, row.name);
  if (!url) return row;
  const context = { ...given, signal: AbortSignal.any([given.signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]) };
  const origin = await findOrigin(context, url).catch(() => null);
  given.signal.throwIfAborted();
  const known = origin !== null && origin.snapshot !== null && origin.method !== 'tables' ? origin : null;
  // A server that does not answer proves nothing; the status of the target says why.
  const unchanged = known && (await isUnchanged(context, { target: row.name, url, origin: known }).catch(() => false));
  given.signal.throwIfAborted();
  if (!unchanged && (await checkDatabase(given, url, { sizes: false })).state.status === 'missing')
    return { ...row, contents: null, destination_missing: true };
  if (!known || known.snapshot === null) return { ...row, contents: null };
  const { snapshot, save, sanitized, at: since } = known;
  return {
    ...row,
    contents: { snapshot, ...(save !== undefined && { save }), sanitized, since, unchanged: unchanged === true },
  };
}

interface Origin {
  target: string;
  url: DatabaseUrl;
  origin: HistoryEntry;
}

async function isUnchanged(context: Context, { target, url, origin }: Origin): Promise<boolean> {
  if ((origin.size_bytes ?? 0) > PROVED_UP_TO_BYTES) return false;
  // An undo that this machine does not know of has returned to an earlier one.
  const loads = (await readFingerprints(context, target)).filter(({ snapshot }) => snapshot === origin.snapshot);
  const fingerprints = loads.map(({ fingerprint }) => fingerprint);
  return fingerprints.length > 0 && (await openDatabase(context, url).dump.isUnchanged(fingerprints));
}
