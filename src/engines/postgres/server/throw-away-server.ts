import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import { makeServerHome, type ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted, startOnFreePort, untilReady } from '../../shared/server/start-server.ts';
import { startSupervised } from '../../shared/server/supervised-server.ts';
import { programsFor } from '../../shared/server/unprivileged-user.ts';
import { findServerPrograms, type ServerPrograms } from './server-programs.ts';

export interface ThrowAwayServer extends AsyncDisposable {
  port: number;
  directory: string;
  url(database: string): string;
  stop(): Promise<void>;
}

export interface ThrowAwayOptions {
  programs?: ServerPrograms;
  settings?: Record<string, string>;
  findPort?: () => Promise<number>;
}

/** Nothing waits for the disk: the data are temporary. */
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

/** A server on a free port of this machine; rejects without server programs. */
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
      // INT: clean shutdown; QUIT: immediate.
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

/** Line 8 of the pid file is the server's state. */
async function isReady(home: ServerHome): Promise<boolean> {
  const lines = await home.read(join(DATA, 'postmaster.pid')).catch(() => '');
  return lines.split('\n')[7]?.trim() === 'ready';
}
