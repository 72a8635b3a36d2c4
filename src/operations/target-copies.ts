import { connectionKey } from '../engines/connection-limits.ts';
import type { DatabaseUrl, Engine } from '../engines/engine.ts';
import type { DatabaseCopies } from '../results/database-copies.ts';
import type { TargetRow } from '../results/results.ts';
import type { Context } from '../runtime/context.ts';
import { mapWithConcurrency } from '../runtime/map-with-concurrency.ts';
import { CHECK_TIMEOUT_MS } from './check-databases.ts';
import { databaseCopies } from './load/base-copies.ts';
import { configuredDestination, openDestination } from './load/destination.ts';

const SERVERS_AT_ONCE = 8;

/**
 * The rows with base copy and spare of their destinations. A server that does not answer is passed over: the list says
 * of the source whether it answers. No destination that the hub names is connected to.
 */
export async function withCopies(context: Context, rows: TargetRow[]): Promise<TargetRow[]> {
  const places = rows.flatMap(({ name, type }) => (type === 'cloud' ? [] : (placeOf(context, name) ?? [])));
  const groups = [...Map.groupBy(places, ({ url }) => connectionKey(url)).values()];
  const found = await mapWithConcurrency(groups, SERVERS_AT_ONCE, (group) => findTogether(context, group));
  const byTarget = new Map(found.flat());
  return rows.map((row) => {
    const copies = byTarget.get(row.name);
    return copies ? { ...row, copies } : row;
  });
}

interface Place {
  target: string;
  engine: Engine;
  url: DatabaseUrl;
}

function placeOf(context: Context, target: string): Place | null {
  try {
    const chosen = configuredDestination(context.configuration, target);
    return chosen && { target, ...openDestination(chosen) };
  } catch {
    // The row has the reason.
    return null;
  }
}

async function findTogether(context: Context, group: Place[]): Promise<[string, DatabaseCopies][]> {
  const [first] = group;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
  try {
    const urls = group.map(({ url }) => url);
    const found = (await first?.engine.restore.findAllCopies({ ...context, signal }, { urls })) ?? [];
    return group.flatMap(({ target }, index) => {
      const copies = found[index] && databaseCopies(found[index]);
      return copies ? [[target, copies]] : [];
    });
  } catch {
    context.signal.throwIfAborted();
    return [];
  }
}
