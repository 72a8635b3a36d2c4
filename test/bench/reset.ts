/**
 * `npm run bench -- reset [MEGABYTES]`: a reset from the base copy and from the spare against the load that they
 * repeat (default 450 MB, half of it one table), in one run and in turns; medians of three.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startThrowAwayServer } from '../../src/engines/postgres/server/throw-away-server.ts';
import { anyClientTools } from '../../src/engines/postgres/tools.ts';
import { localRunner } from '../../src/process/local.ts';
import { benchData } from '../helpers/bench-data.ts';
import { measuredRun, printTable } from '../helpers/measured-run.ts';

const ROUNDS = 3;
const megabytes = Number(process.argv[2] ?? 450);
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;

const report = (): void => {};
const context = {
  runner: localRunner({ environment: process.env, report }),
  report,
  signal: new AbortController().signal,
  clock: () => new Date(),
  environment: process.env,
};
const { psql } = await anyClientTools(context);
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
// As durable as a server comes: the checkpoints of a file copy are part of what is measured.
const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', max_wal_size: '1GB' };
const server = await startThrowAwayServer(context, { settings });
try {
  console.log(`Filling a database with ${megabytes} MB`);
  await sql('postgres', 'CREATE DATABASE bench');
  for (const statement of benchData({ megabytes })) await sql('bench', statement);
  await measure();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

interface Timed {
  seconds: number;
  /** From the answer to the question until the new database is in use, without the start of the program and the plan. */
  applied: number;
  swapMs: number;
}

async function measure(): Promise<void> {
  const config = join(folder, 'tool.yml');
  const snapshot = `{ src_url: ${server.url('bench')}, dst_url: ${server.url('copy')} }`;
  const lines = [
    `secret_key: ${'ab'.repeat(16)}`,
    `working_directory: ${join(folder, 'work')}`,
    'defaults: { cpus: 2 }',
    `targets: { bench: { snapshot: ${snapshot} } }`,
  ];
  await writeFile(config, `${lines.join('\n')}\n`, { mode: 0o600 });
  const run = async (...words: string[]): Promise<Timed> => {
    const args = [tool, '--config', config, '--json', '--yes', ...words];
    const started = performance.now();
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const at: Record<string, number> = {};
    let last = '';
    for await (const line of createInterface({ input: child.stdout })) {
      const { event, step, state } = JSON.parse(line);
      if (event === 'step') at[`${step} ${state}`] = performance.now();
      last = line;
    }
    const { event, swap_ms: swapMs } = JSON.parse(last);
    if (event !== 'done') throw new Error(last);
    const applied = ((at['swap done'] ?? Number.NaN) - (at['prepare started'] ?? Number.NaN)) / 1000;
    return { seconds: (performance.now() - started) / 1000, applied, swapMs };
  };
  await run('build', 'bench');
  const loads: Timed[] = [];
  const keeping: Timed[] = [];
  const resets: Timed[] = [];
  const spares: Timed[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    loads.push(await run('load', 'bench'));
    keeping.push(await run('load', 'bench', '--keep-base'));
    resets.push(await run('reset', 'bench'));
    await run('reset', 'bench', '--spare');
    spares.push(await run('reset', 'bench'));
  }
  const row = (name: string, timed: Timed[], goal: string): string[] => [
    ...[name, seconds(timed), ratio(timed, loads, 'seconds')],
    ...[median(timed.map((one) => one.applied)).toFixed(2), ratio(timed, loads, 'applied')],
    ...[`${median(timed.map(({ swapMs }) => swapMs))}`, goal],
  ];
  printTable([
    ['', 'seconds', 'of the load', 'until in use, s', 'of the load', 'unavailable, ms', 'to reach until in use'],
    row('tool load', loads, ''),
    row('tool load --keep-base', keeping, ''),
    row('tool reset, from the base copy', resets, '0.25 of the load'),
    row('tool reset, from the spare', spares, '0.2 s'),
  ]);
}

async function sql(database: string, statement: string): Promise<void> {
  await measuredRun(psql, ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', server.url(database), '-c', statement]);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function seconds(measured: Timed[]): string {
  return median(measured.map((one) => one.seconds)).toFixed(2);
}

function ratio(ours: Timed[], theirs: Timed[], what: 'seconds' | 'applied'): string {
  return (median(ours.map((one) => one[what])) / median(theirs.map((one) => one[what]))).toFixed(2);
}
