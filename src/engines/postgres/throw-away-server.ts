import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { EXIT, UserError } from '../../errors.ts';
import type { Command, Completed, RunningProcess } from '../../process/runner.ts';
import type { EngineContext } from '../engine.ts';
import { findServerPrograms, type ServerPrograms } from './server-programs.ts';

/** A server of our own that is made for one run and of which nothing remains. */
export interface ThrowAwayServer extends AsyncDisposable {
  port: number;
  /** Holds the data and nothing else. */
  directory: string;
  /** The folder of the server's programs. */
  bin: string;
  /** Connection URL of one of its databases, with the password. */
  url(database: string): string;
  stop(): Promise<void>;
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

const START_DEADLINE = 30_000;
const LOOK_EVERY = 50;

/**
 * The server runs under a shell that reads a pipe from us: when we end, however that comes about, the pipe ends, and
 * the shell stops the server and removes its data. `kill -9` leaves nothing behind either.
 */
const SUPERVISOR = `
"$0" "$@" >"$LOG" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -INT "$server" 2>/dev/null
wait "$server"
rm -rf "$DATA"`;

/** Makes, starts and waits for a server on a free port of this machine; rejects when there are no server programs. */
export async function startThrowAwayServer(
  context: EngineContext,
  { programs, settings = {} }: { programs?: ServerPrograms; settings?: Record<string, string> } = {},
): Promise<ThrowAwayServer> {
  const { bin } = programs ?? (await findServerPrograms(context));
  const user = await unprivilegedUser();
  const directory = await mkdtemp(join(tmpdir(), 'tool-postgres-'));
  await chmod(directory, 0o700);
  if (user) await chown(directory, user.uid, user.gid);
  const password = randomBytes(16).toString('hex');
  try {
    await initialise(context, { bin, directory, password, user });
    const port = await freePort();
    const { child, ended } = supervise(context, { bin, directory, port, user, settings });
    const stop = async (): Promise<void> => {
      child.stdin.end();
      await ended;
      await rm(directory, { recursive: true, force: true });
    };
    await ready({ directory, ended });
    const url = (database: string): string =>
      `postgres://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
    return { port, directory, bin, url, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

type User = NonNullable<Command['user']>;

/** PostgreSQL refuses to run as root: root steps down to `postgres`, where it exists, or `nobody`. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const account = ['postgres', 'nobody'].map((name) => accounts.find(([found]) => found === name)).find(Boolean);
  if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  throw new UserError('PostgreSQL refuses to run as root, and there is neither a user "postgres" nor "nobody"', {
    code: 'server_not_started',
    exit: EXIT.failed,
    hint: 'Run as another user than root.',
  });
}

interface Place {
  bin: string;
  directory: string;
  user: User | undefined;
}

async function initialise(context: EngineContext, { bin, directory, password, user }: Place & { password: string }) {
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user) await chown(passwordFile, user.uid, user.gid);
  const result = await context.runner.run(
    {
      file: join(bin, 'initdb'),
      args: [
        `--pgdata=${dataFolder(directory)}`,
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

function dataFolder(directory: string): string {
  return join(directory, 'data');
}

function supervise(
  context: EngineContext,
  { bin, directory, port, user, settings }: Place & { port: number; settings: Record<string, string> },
): { child: RunningProcess; ended: Promise<Completed> } {
  const flags = Object.entries({ ...SETTINGS, port, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const child = context.runner.start({
    file: '/bin/sh',
    args: ['-c', SUPERVISOR, join(bin, 'postgres'), '-D', dataFolder(directory), ...flags],
    env: { LC_ALL: 'C', DATA: directory, LOG: logFile(directory) },
    ...(user && { user }),
  });
  child.stdout.resume();
  child.stdin.on('error', () => {});
  return { child, ended: child.ended };
}

function logFile(directory: string): string {
  return join(directory, 'server.log');
}

/** The server writes its state into the eighth line of its pid file. */
async function ready({ directory, ended }: { directory: string; ended: Promise<Completed> }): Promise<void> {
  const deadline = Date.now() + START_DEADLINE;
  let over = false;
  const end = (): void => {
    over = true;
  };
  ended.then(end, end);
  while (Date.now() < deadline && !over) {
    const lines = await readFile(join(dataFolder(directory), 'postmaster.pid'), 'utf8').catch(() => '');
    if (lines.split('\n')[7]?.trim() === 'ready') return;
    await setTimeout(LOOK_EVERY);
  }
  const log = await readFile(logFile(directory), 'utf8').catch(() => '');
  throw notStarted('it did not get ready', { exitCode: null, stdout: '', stderr: log });
}

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
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
