/**
 * `npm run bench -- postgres [MEGABYTES]`: builds and loads against the raw tools, on generated data (default 1000 MB,
 * half of it one table), both sides in one run and in turns; medians of three. Figures are ratios: machines differ.
 */
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startThrowAwayServer } from '../../src/engines/postgres/server/throw-away-server.ts';
import { anyClientTools } from '../../src/engines/postgres/tools.ts';
import { localRunner } from '../../src/process/local.ts';
import { benchData } from '../helpers/bench-data.ts';
import { type Measured, measuredRun, printTable } from '../helpers/measured-run.ts';

const ROUNDS = 3;
const JOBS = 2;
const megabytes = Number(process.argv[2] ?? 1000);
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;

const report = (): void => {};
const context = {
  runner: localRunner({ environment: process.env, report }),
  report,
  signal: new AbortController().signal,
  clock: () => new Date(),
  environment: process.env,
};
const { pg_dump, pg_restore, psql } = await anyClientTools(context);
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
// As durable as a server comes: what is waited for there is part of what is measured.
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

async function measure(): Promise<void> {
  const source = server.url('bench');
  const archive = join(folder, 'archive');
  const zipped = join(folder, 'dump.zip');
  const dumps: Measured[] = [];
  const zips: Measured[] = [];
  const builds: Measured[] = [];
  const restores: Measured[] = [];
  const loads: Measured[] = [];
  let stored = 0;
  let again = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await rm(archive, { recursive: true, force: true });
    dumps.push(await measuredRun(pg_dump, ['-Fd', `-j${JOBS}`, '-Z1', '-f', archive, '-d', source]));
    await rm(zipped, { force: true });
    zips.push(await measuredRun('sh', ['-c', `"${pg_dump}" -d "${source}" | zip -q "${zipped}" -`]));
    const work = join(folder, `work-${round}`);
    const config = await configure(work);
    builds.push(await measuredRun(process.execPath, [tool, '--config', config, '--json', 'build', 'bench']));
    stored = await size(join(work, 'objects'));
    await measuredRun(process.execPath, [tool, '--config', config, '--json', 'build', 'bench']);
    again = (await size(join(work, 'objects'))) - stored;
    loads.push(
      await measuredRun(process.execPath, [tool, '--config', config, '--json', '--yes', 'load', 'bench', '--no-undo']),
    );
    await sql('postgres', 'DROP DATABASE IF EXISTS raw WITH (FORCE)');
    await sql('postgres', 'CREATE DATABASE raw');
    restores.push(await measuredRun(pg_restore, ['-Fd', `-j${JOBS}`, '-d', server.url('raw'), archive]));
    await rm(work, { recursive: true });
  }
  const swap = Math.max(...loads.map(({ output }) => Number(/"swap_ms":(\d+)/.exec(output)?.[1])));
  const memory = Math.max(...[...builds, ...loads].map((measured) => measured.megabytes));
  const archived = await size(archive);
  const zip = (await stat(zipped)).size;
  printTable([
    ['', 'seconds', 'of pg_dump -Fd -Z1', 'of pg_dump | zip', 'MB stored'],
    [`pg_dump -Fd -j${JOBS} -Z1`, seconds(dumps), '1', '', mb(archived)],
    ['pg_dump | zip', seconds(zips), '', '1', mb(zip)],
    ['tool build', seconds(builds), ratio(builds, dumps), ratio(builds, zips), mb(stored)],
    ['to reach', '', '0.65', '0.20', `${mb(Math.min(archived, zip))} or less`],
  ]);
  printTable([
    ['', 'seconds', 'of pg_restore'],
    [`pg_restore -Fd -j${JOBS}`, seconds(restores), '1'],
    ['tool load', seconds(loads), ratio(loads, restores)],
    ['to reach', '', '0.75'],
  ]);
  console.log(`A second build added ${((100 * again) / stored).toFixed(2)} % of the bytes (to reach: less than 1 %)`);
  console.log(`The swap took ${swap} ms at most (to reach: less than 500 ms)`);
  console.log(`Node held ${memory} MB at most (to reach: 150 MB)`);
}

async function configure(work: string): Promise<string> {
  await mkdir(work);
  const config = join(work, 'tool.yml');
  const text = `secret_key: ${'ab'.repeat(16)}
working_directory: ${work}
defaults: {cpus: ${JOBS}}
targets:
  bench:
    snapshot:
      src_url: ${server.url('bench')}
      dst_url: ${server.url('copy')}
`;
  await writeFile(config, text, { mode: 0o600 });
  return config;
}

async function sql(database: string, statement: string): Promise<void> {
  await measuredRun(psql, ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', server.url(database), '-c', statement]);
}

async function size(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true });
  const facts = await Promise.all(names.map((name) => stat(join(directory, name))));
  return facts.reduce((sum, fact) => sum + (fact.isFile() ? fact.size : 0), 0);
}

function median(measured: Measured[]): number {
  return measured.map((one) => one.seconds).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN;
}

function seconds(measured: Measured[]): string {
  return median(measured).toFixed(1);
}

function ratio(ours: Measured[], theirs: Measured[]): string {
  return (median(ours) / median(theirs)).toFixed(2);
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
