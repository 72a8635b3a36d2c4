import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../../src/engines/shared/server/free-port.ts';
import { unprivilegedUser } from '../../../src/engines/shared/server/unprivileged-user.ts';

/** A server of a bench whose directory outlives it. */
export interface ImageServer {
  port: number;
  /** From the start of the program to the first connection. */
  startMs: number;
  url: string;
  query(statement: string): Promise<Record<string, unknown>[]>;
  /** A clean shutdown. */
  stop(): Promise<void>;
}

export interface ImagePrograms {
  bin: string;
  user: { uid: number; gid: number } | undefined;
}

export async function imagePrograms(bin: string): Promise<ImagePrograms> {
  return { bin, user: await unprivilegedUser('postgres') };
}

/** Creates a directory that the account of the server owns. */
export function makeOwned({ user }: ImagePrograms, directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (user) chownSync(directory, user.uid, user.gid);
  return directory;
}

/** Small segments, since each image has one. */
export function initialise({ bin, user }: ImagePrograms, data: string): void {
  const args = ['-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '-N', '--wal-segsize=1'];
  execFileSync(join(bin, 'initdb'), args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: dirname(data), ...user });
}

/** Leaves one segment of the log, which has one record. */
export function resetLog({ bin, user }: ImagePrograms, data: string): void {
  execFileSync(join(bin, 'pg_resetwal'), ['-D', data], { stdio: ['ignore', 'ignore', 'inherit'], ...user });
}

/** One session makes everything in its order: nothing else writes, and a new table is not logged. */
export const LOAD_SETTINGS = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  max_wal_size: '4GB',
  maintenance_work_mem: '512MB',
};

export async function startImage(
  { bin, user }: ImagePrograms,
  data: string,
  settings: Record<string, string> = {},
): Promise<ImageServer> {
  const port = await freePort();
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', port, ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const started = performance.now();
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { stdio: ['ignore', 'ignore', 'ignore'], ...user });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const client = await connected(url, () => child.exitCode !== null);
  return {
    port,
    startMs: performance.now() - started,
    url,
    query: async (statement) => (await client.query(statement)).rows,
    async stop() {
      await client.end();
      child.kill('SIGINT');
      await ended;
    },
  };
}

async function connected(url: string, isOver: () => boolean): Promise<Client> {
  while (true) {
    const client = new Client(url);
    // An ended connection is reported to its query.
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (isOver()) throw error;
      await setTimeout(5);
    }
  }
}
