import { connectionKey } from '../../engines/connection-limits.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import { openDatabase } from '../../engines/open-database.ts';
import type { DestinationCopies } from '../../results/database-copies.ts';
import type { TargetRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { findDestinationUrl } from '../load/configured-destination.ts';
import { toDestinationCopies } from '../load/copies-result.ts';
import { CHECK_TIMEOUT_MS } from './check-databases.ts';

const SERVERS_AT_ONCE = 8;

/** The rows with the copies of their destinations. No destination that the hub names is connected to. */
export async function withCopies(context: Context, rows: TargetRow[]): Promise<TargetRow[]> {
  const byTarget = await copiesOf(
    context,
    rows.flatMap(({ name, type }) => (type === 'cloud' ? [] : [name])),
  );
  return rows.map((row) => {
    const copies = byTarget.get(row.name);
    return copies ? { ...row, copies } : row;
  });
}

/** Base copy, spare and branches by target. A server that does not answer is passed over. */
export async function copiesOf(context: Context, targets: string[]): Promise<Map<string, DestinationCopies>> {
  const places = targets.flatMap((target): Place[] => {
    const url = findDestinationUrl(context.configuration, target);
    return url ? [{ target, url }] : [];
  });
  const groups = [...Map.groupBy(places, ({ url }) => connectionKey(url)).values()];
  const found = await mapWithConcurrency(groups, SERVERS_AT_ONCE, (group) => findTogether(context, group));
  return new Map(found.flat());
}

interface Place {
  target: string;
  url: DatabaseUrl;
}

async function findTogether(context: Context, group: Place[]): Promise<[string, DestinationCopies][]> {
  const [first] = group;
  if (!first) return [];
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
  try {
    const urls = group.map(({ url }) => url);
    const found = await openDatabase({ ...context, signal }, first.url).restore.findAllCopies(urls);
    return group.flatMap(({ target }, index) => {
      const copies = found[index] && toDestinationCopies(found[index]);
      return copies ? [[target, copies]] : [];
    });
  } catch {
    context.signal.throwIfAborted();
    return [];
  }
}
