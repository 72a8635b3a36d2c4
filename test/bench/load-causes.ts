/**
 * `npm run bench -- load-causes [MEGABYTES]`: seconds of processor time that each part of a load costs, for 60 tables (default
 * 440 MB), mostly in one session; medians of three in turns, beside what is possible otherwise.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWire } from '../../src/engines/postgres/connection/wire.ts';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 440);
const ROUNDS = 3;
const TABLES = 60;

const folder = await mkdtemp(join(tmpdir(), 'tool-bench-load-'));
await using bench = await openPostgresBench(benchData({ megabytes, tables: TABLES, even: true }));
const { pg_dump, pg_restore, psql } = bench.tools;
const tables = ['account', ...Array.from({ length: TABLES }, (_, at) => `part_${String(at + 1).padStart(2, '0')}`)];
const archive = join(folder, 'archive');
await measuredRun(pg_dump, ['-Fd', '-j2', '-Z1', '-f', archive, '-d', bench.url('bench')]);
const file = (table: string, format: string): string => join(folder, `${table}.${format}`);
const writes = ['text', 'binary'].flatMap((format) =>
  tables.map((table) => `\\copy ${table} to '${file(table, format)}' with (format ${format})`),
);
const run = async (database: string, commands: string[]): Promise<number> => {
  const words = commands.flatMap((one) => ['-c', one]);
  return (await measuredRun(psql, ['-Xq', '-o', '/dev/null', '-d', bench.url(database), ...words])).cpu;
};
await run('bench', writes);

const SETTINGS = ['SET synchronous_commit = off', `SET maintenance_work_mem = '1GB'`];
const inRaw = (...commands: string[]): Promise<number> => run('raw', [...SETTINGS, ...commands]);
const copies = (format: string): string[] =>
  tables.flatMap((table) => [
    ...['BEGIN', `TRUNCATE ONLY ${table}`],
    `\\copy ${table} from '${file(table, format)}' with (freeze, format ${format})`,
    'COMMIT',
  ]);
const define = async (...settings: string[]): Promise<number> => {
  await bench.sql('postgres', 'DROP DATABASE IF EXISTS raw WITH (FORCE)');
  await bench.sql('postgres', 'CREATE DATABASE raw');
  for (const setting of settings) await bench.sql('postgres', `ALTER DATABASE raw SET ${setting}`);
  return (await measuredRun(pg_restore, ['-d', bench.url('raw'), '--section=pre-data', archive])).cpu;
};
const indexes = async (jobs: number): Promise<number> =>
  (await measuredRun(pg_restore, ['-d', bench.url('raw'), `-j${jobs}`, '--section=post-data', archive])).cpu;

async function directCopies(): Promise<number> {
  const { hostname: host, port, username: user, password } = new URL(bench.url('raw'));
  const wire = await openWire({ host, port: Number(port), user, password, database: 'raw', encryption: null });
  const before = process.cpuUsage();
  for (const setting of SETTINGS) await wire.execute(setting);
  for (const table of tables) {
    const copy = wire.copyIn(`TRUNCATE ONLY ${table}; COPY ${table} FROM STDIN WITH (FREEZE)`);
    for await (const rows of createReadStream(file(table, 'text'), { highWaterMark: 1024 * 1024 }))
      await copy.write(rows);
    await copy.end();
  }
  wire.close();
  const { user: own, system } = process.cpuUsage(before);
  return (own + system) / 1e6;
}

const ANEW = '-';
const STEPS: [name: string, cause: () => Promise<number>][] = [
  ['a database and its definitions', define],
  ['COPY of text through psql', () => inRaw(...copies('text'))],
  ['ANALYZE of all tables, before their indexes', () => inRaw('ANALYZE')],
  ['indexes, one session', () => indexes(1)],
  ['ANALYZE again, after their indexes', () => inRaw('ANALYZE')],
  ['counting all rows', () => inRaw(...tables.map((table) => `SELECT count(*) FROM ${table}`))],
  [ANEW, define],
  ['COPY of text over a connection of our own', directCopies],
  ['indexes, two sessions', () => indexes(2)],
  [ANEW, define],
  ['COPY of binary rows through psql', () => inRaw(...copies('binary'))],
  ['indexes, three sessions', () => indexes(3)],
  [ANEW, () => define('wal_compression = lz4')],
  ['COPY of text through psql, wal_compression = lz4', () => inRaw(...copies('text'))],
  ['indexes, one session, wal_compression = lz4', () => indexes(1)],
];

const writtenMegabytes = async (): Promise<number> => {
  const { output } = await bench.sql('postgres', `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn`);
  return Number(output.split('\n')[2]) / 1e6;
};
const taken = STEPS.map(([name, cause]) => ({ name, cause, rounds: [] as number[][] }));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { cause, rounds } of taken) {
    await bench.sql('postgres', 'CHECKPOINT');
    const [server, written, started] = [await bench.cpu(), await writtenMegabytes(), performance.now()];
    const own = await cause();
    const seconds = (performance.now() - started) / 1000;
    rounds.push([own, (await bench.cpu()) - server, seconds, (await writtenMegabytes()) - written]);
  }
}
await rm(folder, { recursive: true });
const median = (values: number[]): string =>
  (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(2);
printTable([
  [`${megabytes} MB, ${TABLES} tables`, 'CPU s of client', 'CPU s of server', 'seconds', 'MB of WAL'],
  ...taken
    .filter(({ name }) => name !== ANEW)
    .map(({ name, rounds }) => [name, ...[0, 1, 2, 3].map((at) => median(rounds.map((one) => one[at] ?? 0)))]),
]);
