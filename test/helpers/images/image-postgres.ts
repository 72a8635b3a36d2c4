import { execFileSync, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../../src/engines/shared/server/free-port.ts';
import { unprivilegedUser } from '../../../src/engines/shared/server/unprivileged-user.ts';
import type { Command } from '../../../src/process/runner.ts';
import { type ImageEngine, rowsFor, type StartedImage, tablesOf } from './image-engine.ts';

interface ImageServer extends StartedImage {
  url: string;
}

export interface ImagePrograms {
  bin: string;
  user: Command['user'];
}

export async function imagePrograms(): Promise<ImagePrograms> {
  return { bin: dirname(realpathSync('/usr/local/bin/postgres')), user: await unprivilegedUser('postgres') };
}

export function postgresEngine(programs: ImagePrograms): ImageEngine {
  return {
    name: 'PostgreSQL',
    user: programs.user,
    one: (rows) => `SELECT * FROM t_0 WHERE id = ${Math.round(rows / 2)}`,
    count: 'SELECT count(*), sum(amount) FROM t_0',
    start: (data) => startImage(programs, data),
    async make(data, megabytes) {
      initialise(programs, data);
      const server = await startImage(programs, data, LOAD_SETTINGS);
      const statements = tablesOf((at) => [
        'BEGIN',
        `CREATE TABLE t_${at} ${DEFINITION}`,
        `INSERT INTO t_${at} ${generated(at, { from: 1, to: rowsFor(megabytes) })}`,
        ...indexesOf(at),
        'COMMIT',
      ]);
      for (const statement of [...statements.flat(), 'VACUUM FREEZE', 'ANALYZE']) await server.query(statement);
      await server.stop();
      resetLog(programs, data);
    },
  };
}

export const DEFINITION = '(id bigint, customer integer, amount numeric(10, 2), changed timestamptz, note text)';

export const generated = (table: number, { from, to }: { from: number; to: number }): string =>
  `SELECT i, abs(hashint4(i + ${table})) % 100000, (i % 100000) / 100.0, '2024-01-01Z'::timestamptz + i * interval '1 s',
     md5(i::text) || md5((i + ${table})::text) FROM generate_series(${from}, ${to}) i`;

export const indexesOf = (table: number): string[] => [
  `ALTER TABLE t_${table} ADD PRIMARY KEY (id)`,
  `CREATE INDEX ON t_${table} (customer)`,
  `CREATE INDEX ON t_${table} (changed)`,
];

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
  // Smaller tables and indexes would be logged when their transaction ends, in an order that changes.
  wal_skip_threshold: '0',
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
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...flags], {
    stdio: ['ignore', 'ignore', 'ignore'],
    ...user,
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const client = await connected(url, () => child.exitCode !== null);
  return {
    startMs: performance.now() - started,
    url,
    query: (statement) => client.query(statement),
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
