import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { type InEffect, inEffect } from '../config/keys/in-effect.ts';
import { shareConnections } from '../engines/connection-limits.ts';
import type { HubState } from '../results/cloud-results.ts';
import type { TargetRow } from '../results/results.ts';
import { createContext } from '../runtime/context.ts';
import { toUserError } from '../runtime/errors.ts';
import { refreshTargets } from './targets/targets.ts';

/** Location of the configuration that a refresh reads. */
export interface RefreshPlace {
  /** The file given with `--config`. */
  config: string | undefined;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  debug: boolean;
}

export type RefreshOrder = { order: 'check'; rows: TargetRow[] } | { order: 'stop' };

export type RefreshReply =
  | { reply: 'listed'; rows: TargetRow[]; hub: HubState | null; configuration: InEffect }
  | { reply: 'found'; rows: TargetRow[] }
  | { reply: 'done' }
  | { reply: 'failed'; message: string };

/** Milliseconds for which rows wait for others: each message holds up the other thread. */
const SENT_EVERY_MS = 30;

if (!parentPort) throw new Error('refresh-worker.ts is a worker thread');
const port = parentPort;
const { config, environment, cwd, debug } = workerData as RefreshPlace;
const stop = new AbortController();
const ordered = Promise.withResolvers<TargetRow[]>();
const reply = (message: RefreshReply): void => port.postMessage(message);

port.on('message', (message: RefreshOrder) => {
  if (message.order === 'check') ordered.resolve(message.rows);
  else stop.abort(new Error('the refresh was cancelled'));
});

let found: TargetRow[] = [];
let sending: NodeJS.Timeout | undefined;
const send = (): void => {
  clearTimeout(sending);
  sending = undefined;
  if (found.length > 0) reply({ reply: 'found', rows: found });
  found = [];
};

shareConnections();
// On Linux that of this thread and of the programs it starts: on a busy machine the screens come first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
const { signal } = stop;
signal.addEventListener('abort', () => ordered.reject(signal.reason));
ordered.promise.catch(() => {});
try {
  const context = await createContext({
    config,
    environment,
    cwd,
    debug,
    clock: () => new Date(),
    report: () => {},
    signal,
  });
  await refreshTargets(context, {
    listed(rows, hub) {
      reply({ reply: 'listed', rows, hub, configuration: inEffect(context.configuration) });
      return ordered.promise;
    },
    take(row) {
      found.push(row);
      sending ??= setTimeout(send, SENT_EVERY_MS);
    },
  });
  send();
  reply({ reply: 'done' });
} catch (thrown) {
  send();
  reply({ reply: 'failed', message: toUserError(thrown).message });
} finally {
  port.close();
}
