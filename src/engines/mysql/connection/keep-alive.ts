import type { EngineContext } from '../../engine-context.ts';
import type { MysqlSession } from './session.ts';

/** Shorter than the idle limits of load balancers and proxies. */
const EVERY_MS = 20_000;

/**
 * Runs work while a session that is idle meanwhile is kept open: it holds the lock on the destination and performs the
 * swap. A session that is lost ends the work at once, and not after hours.
 */
export async function whileAlive<Result>(
  context: EngineContext,
  { session, everyMs = EVERY_MS }: { session: Pick<MysqlSession, 'execute'>; everyMs?: number },
  work: (running: EngineContext) => Promise<Result>,
): Promise<Result> {
  const lost = new AbortController();
  let asking = false;
  const timer = setInterval(() => {
    if (asking) return;
    asking = true;
    session.execute('DO 1').then(
      () => {
        asking = false;
      },
      (error) => lost.abort(error),
    );
  }, everyMs);
  timer.unref();
  try {
    return await work({ ...context, signal: AbortSignal.any([context.signal, lost.signal]) });
  } finally {
    clearInterval(timer);
  }
}

/** A signal that follows another until `release` is called. */
export function releasable(signal: AbortSignal): { signal: AbortSignal; release: () => void } {
  const own = new AbortController();
  const abort = (): void => own.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { signal: own.signal, release: () => signal.removeEventListener('abort', abort) };
}
