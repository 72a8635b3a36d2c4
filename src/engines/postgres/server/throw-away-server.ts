import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import type { ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted, startServer } from '../../shared/server/start-server.ts';
import { runSupervised } from '../../shared/server/supervised-server.ts';
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
export const TEMPORARY_SETTINGS = {
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

/** A server on a free port of this machine; rejects without server programs. */
export async function startThrowAwayServer(
  context: EngineContext,
  { programs, settings = {}, findPort }: ThrowAwayOptions = {},
): Promise<ThrowAwayServer> {
  const { bin } = programs ?? (await findServerPrograms(context));
  const password = randomBytes(16).toString('hex');
  const server = await startServer(context, {
    engine: 'postgres',
    product: PRODUCT,
    deadlineMs: 30_000,
    lastSignal: 'QUIT',
    findPort,
    async prepare(home, port) {
      const { directory, user } = home;
      const own = await programsFor(context, { bin, directory, user });
      await initialise(context, { bin: own, home, password });
      const flags = Object.entries({ ...TEMPORARY_SETTINGS, port, ...settings }).flatMap(([name, value]) => [
        '-c',
        `${name}=${value}`,
      ]);
      return [join(own, 'postgres'), '-D', join(directory, DATA), ...flags];
    },
    isReady,
  });
  const { port, directory } = server;
  // INT: clean shutdown; QUIT: immediate.
  const stop = (): Promise<void> => server.stop(context.signal.aborted ? 'QUIT' : 'INT');
  const url = (database: string): string =>
    `postgres://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  return { port, directory, url, stop, [Symbol.asyncDispose]: stop };
}

const DATA = 'data';

/** Creates the data directory of a server whose superuser has the password. */
export async function initialise(
  context: EngineContext,
  { bin, home, password }: { bin: string; home: ServerHome; password: string },
): Promise<void> {
  const { directory, user } = home;
  await home.write('password', password);
  const result = await runSupervised(context, {
    words: [
      join(bin, 'initdb'),
      `--pgdata=${join(directory, DATA)}`,
      `--pwfile=${join(directory, 'password')}`,
      '--username=postgres',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    directory,
    user,
  });
  if (result.exitCode !== 0) throw serverNotStarted(PRODUCT, 'initdb failed', result);
  await home.write('password', '');
}

/** Line 8 of the pid file is the server's state. */
async function isReady(home: ServerHome): Promise<boolean> {
  const lines = await home.read(join(DATA, 'postmaster.pid')).catch(() => '');
  return lines.split('\n')[7]?.trim() === 'ready';
}
