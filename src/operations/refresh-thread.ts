import { Worker } from 'node:worker_threads';
import type { InEffect } from '../config/keys/in-effect.ts';
import { shareConnections } from '../engines/connection-limits.ts';
import { UserError } from '../runtime/errors.ts';
import { workerFile } from '../runtime/thread-pool.ts';
import type { RefreshOrder, RefreshPlace, RefreshReply } from './refresh-worker.ts';
import type { RefreshTargets } from './targets/targets.ts';

export interface RefreshInThread extends RefreshTargets {
  place: RefreshPlace;
  signal: AbortSignal;
  /** Called with the configuration in effect, once it was read. */
  configurationRead: (configuration: InEffect) => void;
}

/** V8 lets young objects take 60 MB otherwise. */
const HEAP = { maxYoungGenerationSizeMb: 2 };

/**
 * Lists and checks the targets in a thread of its own, so that a thousand of them hold up no key. Resolves with `false`
 * when they could not be listed: a list in the present thread gets the original error.
 */
export async function refreshInThread({
  place,
  signal,
  configurationRead,
  listed,
  take,
}: RefreshInThread): Promise<boolean> {
  shareConnections();
  const environment = { ...place.environment };
  const worker = new Worker(workerFile(import.meta.url, 'refresh-worker'), {
    name: 'refresh',
    workerData: { ...place, environment },
    resourceLimits: HEAP,
  });
  const order = (message: RefreshOrder): void => worker.postMessage(message);
  const stop = (): void => order({ order: 'stop' });
  signal.addEventListener('abort', stop, { once: true });
  let isListed = false;
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  worker.on('message', (message: RefreshReply) => {
    switch (message.reply) {
      case 'listed':
        isListed = true;
        configurationRead(message.configuration);
        void Promise.resolve(listed(message.rows, message.hub)).then((rows) => order({ order: 'check', rows }), reject);
        return;
      case 'found':
        for (const row of message.rows) take(row);
        return;
      case 'done':
        resolve();
        return;
      case 'failed':
        reject(checkFailed(message.message));
        return;
      default:
        message satisfies never;
    }
  });
  worker.on('error', (error) => reject(checkFailed(error.message)));
  worker.on('exit', () => reject(checkFailed('the check ended early')));
  try {
    await ended;
    return true;
  } catch (thrown) {
    signal.throwIfAborted();
    if (isListed) throw thrown;
    return false;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function checkFailed(message: string): UserError {
  return new UserError('unreachable', message);
}
