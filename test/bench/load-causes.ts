/**
 * `npm run bench -- load-causes [MEGABYTES]`: seconds of processor time that each part of a load costs, for 60 tables (default
 * 440 MB), one session after the other; medians of three in turns, beside what is possible otherwise.
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { cpuSeconds, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 440);
const ROUNDS = Number(process.argv[3] ?? 3);
const only = process.argv[4];
void connectSocket;

const folder = await mkdtemp(join(tmpdir(), 'tool-bench-load-'));
await using bench = await openPostgresBench(benchData({ megabytes, tables: 60, even: true }));
const { pg_dump, pg_restore, psql } = bench.tools;
const tables = ['account', ...Array.from({ length: 60 }, (_, at) => `part_${String(at + 1).padStart(2, '0')}`)];
const archive = join(folder, 'archive');
const run = (file: string, args: string[]) => measuredRun(file, args);
await run(pg_dump, ['-Fd', '-j2', '-Z1', '-f', archive, '-d', bench.url('bench')]);
await mkdir(join(folder, 'rows'));
const file = (table: string, kind: string): string => join(folder, 'rows', `${table}.${kind}`);
for (const table of tables) {
  await bench.sql('bench', `COPY ${table} TO '${file(table, 'text')}'`).catch(async () => {
    await run(psql, ['-Xq', '-d', bench.url('bench'), '-c', `\\copy ${table} to '${file(table, 'text')}'`]);
  });
  await run(psql, [
    '-Xq',
    '-d',
    bench.url('bench'),
    '-c',
    `\\copy ${table} to '${file(table, 'binary')}' with (format binary)`,
  ]);
}

const inRaw = async (...commands: string[]): Promise<number> => {
  const words = ['SET synchronous_commit = off', "SET maintenance_work_mem = '1GB'", ...commands].flatMap((one) => [
    '-c',
    one,
  ]);
  return (await measuredRun(psql, ['-Xq', '-o', '/dev/null', '-d', bench.url('raw'), ...words])).cpu;
};
const copies = (format: string): string[] =>
  tables.flatMap((table) => [
    'BEGIN',
    `TRUNCATE ONLY ${table}`,
    `\\copy ${table} from '${file(table, format === '' ? 'text' : 'binary')}' with (freeze${format})`,
    'COMMIT',
  ]);
const define = async (...settings: string[]): Promise<number> => {
  await bench.sql('postgres', 'DROP DATABASE IF EXISTS raw WITH (FORCE)');
  await bench.sql('postgres', 'CREATE DATABASE raw');
  for (const setting of settings) await bench.sql('postgres', `ALTER DATABASE raw SET ${setting}`);
  return (await run(pg_restore, ['-d', bench.url('raw'), '--section=pre-data', archive])).cpu;
};
const indexes = async (jobs: number): Promise<number> =>
  (await run(pg_restore, ['-d', bench.url('raw'), `-j${jobs}`, '--section=post-data', archive])).cpu;

/** Rows through a socket of our own. */
async function socketCopies(): Promise<number> {
  const client = new pg.Client({ connectionString: bench.url('raw') });
  client.on('error', () => {});
  await client.connect();
  const before = process.cpuUsage();
  const stream = (client as unknown as { connection: { stream: import('node:net').Socket } }).connection.stream;
  stream.removeAllListeners('data');
  let answered = Buffer.alloc(0);
  let ready: (() => void) | null = null;
  stream.on('data', (chunk: Buffer) => {
    answered = Buffer.concat([answered, chunk]).subarray(-200);
    if (answered.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]))) ready?.();
  });
  const send = (bytes: Buffer): Promise<void> => new Promise((resolve) => void stream.write(bytes, () => resolve()));
  const message = (type: string, length: number): Buffer => {
    const header = Buffer.alloc(5);
    header.write(type);
    header.writeInt32BE(length + 4, 1);
    return header;
  };
  for (const table of tables) {
    const ended = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const query = Buffer.from(`TRUNCATE ONLY ${table}; COPY ${table} FROM STDIN WITH (FREEZE)\0`);
    await send(Buffer.concat([message('Q', query.length), query]));
    for await (const chunk of createReadStream(file(table, 'text'), { highWaterMark: 1024 * 1024 })) {
      stream.cork();
      stream.write(message('d', chunk.length));
      const sent = send(chunk);
      stream.uncork();
      await sent;
    }
    await send(message('c', 0));
    await ended;
  }
  stream.destroy();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

type Cause = () => Promise<number>;
const STEPS: [string, Cause][] = [
  ['a database and its definitions', () => define()],
  ['COPY of text through psql, frozen', () => inRaw(...copies(''))],
  ['ANALYZE of all tables, before their indexes', () => inRaw('ANALYZE')],
  ['indexes, one session', () => indexes(1)],
  ['ANALYZE again, after their indexes', () => inRaw('ANALYZE')],
  ['counting all rows', () => inRaw(...tables.map((table) => `SELECT count(*) FROM ${table}`))],
  ['-', () => define()],
  ['COPY of text through a socket of our own', socketCopies],
  ['indexes, two sessions', () => indexes(2)],
  ['-', () => define()],
  ['COPY of binary rows through psql', () => inRaw(...copies(', format binary'))],
  ['indexes, three sessions', () => indexes(3)],
  ['-', () => define('wal_compression = lz4')],
  ['COPY, wal_compression = lz4', () => inRaw(...copies(''))],
  ['indexes, wal_compression = lz4', () => indexes(1)],
];

interface Taken {
  own: number[];
  server: number[];
  seconds: number[];
  wal: number[];
}
const wal = async (): Promise<number> => {
  const { output } = await bench.sql('postgres', "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
  return Number(output.split('\n')[2]) / 1e6;
};
const taken = new Map<string, Taken>();
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, work] of STEPS) {
    if (only && name !== '-' && !new RegExp(only).test(name)) continue;
    await bench.sql('postgres', 'CHECKPOINT');
    const [server, walBefore, started] = [await bench.cpu(), await wal(), performance.now()];
    const own = await work();
    const seconds = (performance.now() - started) / 1000;
    const one = taken.get(name) ?? { own: [], server: [], seconds: [], wal: [] };
    taken.set(name, one);
    one.seconds.push(seconds);
    one.own.push(own);
    one.server.push((await bench.cpu()) - server);
    one.wal.push((await wal()) - walBefore);
  }
}
void cpuSeconds;
void spawn;
await rm(folder, { recursive: true });
const median = (values: number[]): string =>
  (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(2);
printTable([
  [`${megabytes} MB, 60 tables`, 'CPU s', 'CPU s of server', 'seconds', 'MB of WAL'],
  ...[...taken]
    .filter(([name]) => name !== '-')
    .map(([name, one]) => [name, median(one.own), median(one.server), median(one.seconds), median(one.wal)]),
]);
