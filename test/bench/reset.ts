/**
 * `npm run bench -- reset [MEGABYTES]`: a reset in place, by a new process and by `tool branch serve`, against one by copy and
 * from the spare, a load, a copy of a template database, and TRUNCATE of all tables with a reload; of 100 tables (default
 * 1000 MB), of which 5 have 1,000 changed rows each; medians of five, behind a checkpoint each. Then `tool changes` and a save.
 */
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = 5;
const TABLES = 100;
const CHANGED = 5;
/** Size of a row with its share of the index. */
const ROW_BYTES = 165;

const rows = Math.round((Number(process.argv[2] ?? 1000) * 1e6) / TABLES / ROW_BYTES);
await using server = await openPostgresBench(
  Array.from(
    { length: TABLES },
    (_, at) => `
      CREATE TABLE t_${at} (id integer PRIMARY KEY, amount integer, note text);
      INSERT INTO t_${at} SELECT i, i % 1000, repeat(md5(i::text), 3) FROM generate_series(1, ${rows}) i`,
  ),
);

interface Timed {
  /** With the start of the program and the plan. */
  seconds: number;
  /** From the first step to the last. */
  applied: number;
}

const run = async (...words: string[]): Promise<Timed> => {
  const args = [PROGRAM, '--config', server.config, '--json', '--yes', ...words];
  const started = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const times: number[] = [];
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).event === 'step') times.push(performance.now());
    last = line;
  }
  const { event, way } = JSON.parse(last);
  if (event !== 'done' && words[0] !== 'changes') throw new Error(last);
  if (words[0] === 'reset' && way !== (words.includes('--copy') ? 'copy' : 'in_place')) throw new Error(last);
  return {
    seconds: (performance.now() - started) / 1000,
    applied: ((times.at(-1) ?? Number.NaN) - (times[0] ?? Number.NaN)) / 1000,
  };
};

/** Changes 5 tables, and puts what that dirtied behind a checkpoint. */
async function change(database: string, round: number): Promise<void> {
  for (let table = 0; table < CHANGED; table += 1) {
    const where = `id % ${Math.floor(rows / 1000)} = ${round}`;
    await server.sql(database, `UPDATE t_${table * 7} SET amount = amount + 1 WHERE ${where}`);
  }
  await server.sql(database, 'CHECKPOINT');
}

async function measure(name: string, database: string, once: () => Promise<Timed>): Promise<void> {
  const timed: Timed[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await change(database, round);
    timed.push(await once());
  }
  const median = (what: keyof Timed): number =>
    timed.map((one) => one[what]).sort((a, b) => a - b)[Math.floor(timed.length / 2)] ?? Number.NaN;
  found.push([name, median('seconds').toFixed(3), Number.isNaN(median('applied')) ? '' : median('applied').toFixed(3)]);
}

const alone = (seconds: number): Timed => ({ seconds, applied: Number.NaN });

/** From the request to the answer of a running process. */
async function measureServed(): Promise<void> {
  await run('branch', 'create', 'bench', 'test', '--count', '1');
  const args = [PROGRAM, '--config', server.config, '--json', '--yes', 'branch', 'serve', 'bench', 'test'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  const { socket: socketPath } = JSON.parse(value ?? '{}');
  const post = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request({ socketPath, path: '/reset/1', method: 'POST' }, async (response) => {
        let body = '';
        for await (const part of response) body += part;
        resolve(body);
      });
      sent.on('error', reject).end();
    });
  await post();
  await measure('tool branch serve, a request', 'copy_test_1', async () => {
    const started = performance.now();
    const body = await post();
    if (JSON.parse(body).way !== 'in_place') throw new Error(body);
    return alone((performance.now() - started) / 1000);
  });
  child.kill();
}

/** What test suites do without this program, in one command each. */
async function measureOthers(): Promise<void> {
  const archive = join(server.folder, 'archive');
  await measuredRun(server.tools.pg_dump, ['-Fd', '-j2', '-Z0', '-f', archive, '-d', server.url('bench')]);
  await server.sql('postgres', 'CREATE DATABASE mine TEMPLATE bench STRATEGY FILE_COPY');
  const tables = Array.from({ length: TABLES }, (_, at) => `t_${at}`).join(', ');
  await measure('TRUNCATE of all tables, pg_restore -a -j2', 'mine', async () => {
    const { seconds } = await server.sql('mine', `TRUNCATE ${tables}`);
    const reload = await measuredRun(server.tools.pg_restore, ['-a', '-j2', '-d', server.url('mine'), archive]);
    return alone(seconds + reload.seconds);
  });
  await measure('DROP DATABASE, CREATE DATABASE … TEMPLATE', 'mine', async () => {
    const { seconds } = await server.sql('postgres', 'DROP DATABASE mine WITH (FORCE)');
    const copy = await server.sql('postgres', 'CREATE DATABASE mine TEMPLATE bench STRATEGY FILE_COPY');
    return alone(seconds + copy.seconds);
  });
}

const found: string[][] = [];
await run('build', 'bench');
const loaded = await run('load', 'bench', '--keep-base');
found.push(['tool load --keep-base, once', loaded.seconds.toFixed(3), loaded.applied.toFixed(3)]);
await measure('tool reset --no-undo', 'copy', () => run('reset', 'bench', '--no-undo'));
await measure('tool reset --no-undo --copy', 'copy', () => run('reset', 'bench', '--no-undo', '--copy'));
const prepareSpare = () => run('reset', 'bench', '--no-undo', '--copy', '--spare');
await prepareSpare();
await measure('tool reset --no-undo --copy, from the spare', 'copy', async () => {
  const timed = await run('reset', 'bench', '--no-undo', '--copy');
  await prepareSpare();
  return timed;
});
await measureServed();
await measureOthers();
await measure('tool changes', 'copy', () => run('changes', 'bench'));
await run('reset', 'bench', '--no-undo', '--copy');
const saves = [await run('save', 'bench', 'first'), await run('save', 'bench', 'again')];
found.push(...saves.map(({ seconds }, at) => [`tool save, nothing has changed, ${at + 1}`, seconds.toFixed(3), '']));
printTable([['', 'seconds', 'applied, s'], ...found]);
