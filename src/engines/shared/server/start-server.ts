import { setTimeout } from 'node:timers/promises';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { freePort, isFree } from './free-port.ts';
import type { SupervisedServer } from './supervised-server.ts';

const ATTEMPTS = 3;
const LOOK_EVERY = 50;

export async function startOnFreePort<Server>(
  start: (port: number) => Promise<Server>,
  findPort: () => Promise<number> = freePort,
): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    try {
      return await start(port);
    } catch (error) {
      // Another process may have taken the port.
      if (attempt === ATTEMPTS || (await isFree(port))) throw error;
    }
  }
}

interface StartState {
  server: SupervisedServer;
  product: string;
  deadline: number;
  lastSignal: string;
  isReady(): Promise<boolean>;
}

/** Stops the server after the deadline or an abort. */
export async function untilReady({ signal }: EngineContext, starting: StartState): Promise<void> {
  const { server, product, deadline, lastSignal, isReady } = starting;
  const end = Date.now() + deadline;
  let over = false;
  const ended = (): void => {
    over = true;
  };
  server.ended.then(ended, ended);
  while (Date.now() < end && !over && !signal.aborted) {
    if (await isReady()) return;
    await setTimeout(LOOK_EVERY);
  }
  await server.stop(lastSignal);
  signal.throwIfAborted();
  throw serverNotStarted(product, 'it did not become ready', await server.ended);
}

export function serverNotStarted(product: string, what: string, said: { stdout?: string; stderr: string }): UserError {
  return new UserError('server_not_started', `Cannot start a throw-away ${product} server: ${what}`, {
    details: `${said.stdout ?? ''}\n${said.stderr}`.trim().split('\n').slice(-10),
    hint: 'Is there room in the temporary directory?',
  });
}
