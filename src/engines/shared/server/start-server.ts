import { setTimeout } from 'node:timers/promises';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { EngineId } from '../../list.ts';
import { freePort, isFree } from './free-port.ts';
import { makeServerHome, type ServerHome } from './server-home.ts';
import { type ServerStart, type SupervisedServer, startSupervised } from './supervised-server.ts';

const ATTEMPTS = 3;
const LOOK_EVERY = 50;

interface ServerOptions extends Pick<ServerStart, 'lastSignal'> {
  engine: EngineId;
  product: string;
  deadlineMs: number;
  findPort?: (() => Promise<number>) | undefined;
  /** Creates the server's files; resolves with its command line. */
  prepare(home: ServerHome, port: number): Promise<ServerStart['words']>;
  isReady(home: ServerHome, port: number): Promise<boolean>;
}

interface StartedServer {
  port: number;
  directory: string;
  /** Stops the server and removes its files. */
  stop(signal: string): Promise<void>;
}

/** Starts a server with files of its own on a free port of this machine. */
export async function startServer(context: EngineContext, options: ServerOptions): Promise<StartedServer> {
  const { findPort = freePort } = options;
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    try {
      return await startOn(context, options, port);
    } catch (error) {
      // Another process may have taken the port.
      if (attempt === ATTEMPTS || (await isFree(port))) throw error;
    }
  }
}

async function startOn(context: EngineContext, options: ServerOptions, port: number): Promise<StartedServer> {
  const home = await makeServerHome(context, options.engine);
  const { directory, user } = home;
  try {
    const words = await options.prepare(home, port);
    const server = startSupervised(context, { words, directory, user, lastSignal: options.lastSignal });
    await untilReady(context, { ...options, server, isReady: () => options.isReady(home, port) });
    return {
      port,
      directory,
      async stop(signal) {
        await server.stop(signal);
        await home.remove();
      },
    };
  } catch (error) {
    await home.remove();
    throw error;
  }
}

interface StartState extends Pick<ServerOptions, 'product' | 'deadlineMs' | 'lastSignal'> {
  server: SupervisedServer;
  isReady(): Promise<boolean>;
}

/** Stops the server after the deadline or an abort. */
async function untilReady({ signal }: EngineContext, starting: StartState): Promise<void> {
  const { server, product, deadlineMs, lastSignal, isReady } = starting;
  const end = Date.now() + deadlineMs;
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
