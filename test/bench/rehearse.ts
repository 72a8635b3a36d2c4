/**
 * `npm run bench -- rehearse [ROWS]`: a migration with and without the observation of a rehearsal, in turns, of ROWS rows
 * (default 1,000,000); once with few long statements, and once with many short ones: by psql, and as `--sql FILE`, which
 * needs no other program. Wall time, and the processor time of this process, which reads the locks and passes the messages on.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RehearsalObserver } from '../../src/engines/facets/rehearse.ts';
import { openDatabase } from '../../src/engines/open-database.ts';
import { urlWithPassword } from '../../src/engines/postgres/connection/url.ts';
import { parseUrl } from '../../src/engines/registry.ts';
import { localRunner } from '../../src/process/local.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = 5;
const SHORT = 8000;
const rows = Number(process.argv[2] ?? 1_000_000);

const MIGRATIONS = {
  'few long statements': `
    ALTER TABLE orders ALTER COLUMN amount TYPE numeric(12,2);
    CREATE INDEX orders_note ON orders (note);
    ALTER TABLE orders ADD CONSTRAINT positive CHECK (amount >= 0);
    UPDATE orders SET note = upper(note) WHERE id % 2 = 0;`,
  [`${SHORT} short statements`]: Array.from(
    { length: SHORT },
    (_, at) => `UPDATE orders SET note = 'short ${at}' WHERE id = ${at};`,
  ).join('\n'),
};

await using server = await openPostgresBench([
  `CREATE TABLE orders (id integer PRIMARY KEY, amount integer, note text);
   INSERT INTO orders SELECT i, i, md5(i::text) FROM generate_series(1, ${rows}) i`,
  'VACUUM ANALYZE orders',
]);
const table: string[][] = [
  ['migration', 'way', 'least s', 'median s', 'median CPU s', 'ratio of CPU', 'of this process'],
];
for (const [name, sql] of Object.entries(MIGRATIONS)) {
  await compare(name, sql);
  printTable(table);
}

async function compare(name: string, sql: string): Promise<void> {
  const file = join(server.folder, 'migration.sql');
  await writeFile(file, sql);
  const ways: Record<string, (url: string) => Promise<RunTimes>> = {
    plain: (url) => timed(() => psql(url, file)),
    observed: (url) => observedRun(url, ({ url: own }) => psql(urlWithPassword(own), file)),
    '--sql': (url) => observedRun(url, ({ runFile }) => runFile(file, new AbortController().signal)),
  };
  const times = Object.entries(ways).map(([way, run]) => ({ way, run, timed: [] as RunTimes[] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    // None is always the first of a round.
    for (const { run, timed } of round % 2 === 0 ? times : times.toReversed()) timed.push(await onCopy(run));
  }
  const [plain] = times;
  for (const { way, timed } of times) {
    table.push([
      ...[name, way, Math.min(...timed.map(({ seconds }) => seconds)).toFixed(2), median(timed, 'seconds').toFixed(2)],
      ...[median(timed, 'cpu').toFixed(2), (median(timed, 'cpu') / median(plain?.timed ?? [], 'cpu')).toFixed(3)],
      `${median(timed, 'own').toFixed(2)} s`,
    ]);
  }
}

interface RunTimes {
  seconds: number;
  /** Processor time in seconds: of the server and this process, and of this process alone. */
  cpu: number;
  own: number;
}

async function onCopy(run: (url: string) => Promise<RunTimes>): Promise<RunTimes> {
  await server.sql('postgres', 'CREATE DATABASE work TEMPLATE bench');
  await server.sql('postgres', 'CHECKPOINT');
  try {
    return await run(server.url('work'));
  } finally {
    await server.sql('postgres', 'DROP DATABASE work WITH (FORCE)');
  }
}

async function timed(run: () => Promise<void>): Promise<RunTimes> {
  const before = process.cpuUsage();
  const ofServer = await server.cpu();
  const started = performance.now();
  await run();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  const own = (user + system) / 1e6;
  return { seconds, cpu: (await server.cpu()) - ofServer + own, own };
}

async function psql(url: string, file: string): Promise<void> {
  const child = spawn(server.tools.psql, ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', file, url], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`psql ended with ${code}`);
}

async function observedRun(url: string, run: (observer: RehearsalObserver) => Promise<void>): Promise<RunTimes> {
  const report = (): void => {};
  const { signal } = new AbortController();
  const runner = localRunner({ environment: process.env, report });
  const context = { runner, report, signal, clock: () => new Date(), environment: process.env };
  const { rehearse } = openDatabase(context, parseUrl(url));
  await using observer = await rehearse.observe();
  const times = await timed(() => run(observer));
  await observer.finish();
  return times;
}

function median(timed: RunTimes[], of: keyof RunTimes): number {
  return timed.map((one) => one[of]).sort((a, b) => a - b)[Math.floor(timed.length / 2)] ?? Number.NaN;
}
