import { connectionKey, withConnection } from '../../engines/connection-limits.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { EngineContext } from '../../engines/engine-context.ts';
import type { Probe, ProbeRequest } from '../../engines/facets/connect.ts';
import { openDatabase, openTunnel } from '../../engines/open-database.ts';
import { oneStepAtATime } from '../../process/yielding.ts';
import { toUserError, UserError } from '../../runtime/errors.ts';

/** After so many milliseconds without an answer a server is given up. */
export const CHECK_TIMEOUT_MS = 5000;

/**
 * The live states of databases. Those with the same host, port, user and parameters share one connection; at most four
 * connections per server and sixteen in total are open at a time. A server that does not answer is given up after 5 s.
 */
export async function checkDatabases(context: EngineContext, { urls, sizes, take }: ProbeRequest): Promise<void> {
  const groups = Map.groupBy(urls.keys(), (index) => keyOf(urls[index]));
  await Promise.all(
    [...groups.values()].map((indexes) => {
      const group = indexes.flatMap((index) => urls[index] ?? []);
      return checkGroup(context, { urls: group, sizes, take: (index, probe) => take(indexes[index] ?? 0, probe) });
    }),
  );
}

export async function checkDatabase(
  context: EngineContext,
  url: DatabaseUrl,
  { sizes = true }: { sizes?: boolean } = {},
): Promise<Probe> {
  let found = failed('no answer', 'unreachable');
  await checkDatabases(context, {
    urls: [url],
    sizes,
    take: (_, probe) => {
      found = probe;
    },
  });
  return found;
}

function keyOf(url: DatabaseUrl | undefined): string {
  return url ? connectionKey(url) : '';
}

async function checkGroup(context: EngineContext, { urls, sizes, take }: ProbeRequest): Promise<void> {
  const [first] = urls;
  if (!first) return;
  await withConnection(first, context.signal, async () => {
    await oneStepAtATime();
    const taken = new Set<number>();
    const silence = new AbortController();
    const giveUp = (): void => silence.abort(new Error('no answer'));
    let timer: NodeJS.Timeout | undefined;
    const signal = AbortSignal.any([context.signal, silence.signal]);
    try {
      // A login has its own timeout.
      await openTunnel(context, first);
      timer = setTimeout(giveUp, CHECK_TIMEOUT_MS);
      await openDatabase({ ...context, signal }, first).connect.probe({
        urls,
        sizes,
        take(index, probe) {
          taken.add(index);
          take(index, probe);
          clearTimeout(timer);
          timer = setTimeout(giveUp, CHECK_TIMEOUT_MS);
        },
      });
    } catch (thrown) {
      context.signal.throwIfAborted();
      const probe = silence.signal.aborted
        ? failed(`no answer within ${CHECK_TIMEOUT_MS / 1000} s`, 'timed_out')
        : failed(toUserError(thrown).message, thrown instanceof UserError ? thrown.code : 'unreachable');
      for (const index of urls.keys()) if (!taken.has(index)) take(index, probe);
    } finally {
      clearTimeout(timer);
    }
  });
}

function failed(error: string, error_code: string): Probe {
  const state = { latency_ms: null, server_version: null, size_bytes: null, error, error_code };
  return { state: { status: 'unreachable', ...state }, identity: null };
}
