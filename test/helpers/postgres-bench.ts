import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startThrowAwayServer } from '../../src/engines/postgres/server/throw-away-server.ts';
import { anyClientTools } from '../../src/engines/postgres/tools.ts';
import { localRunner } from '../../src/process/local.ts';
import { type Measured, measuredRun, printTable } from './measured-run.ts';

const ROUNDS = 3;
const JOBS = 2;

export interface PostgresBench {
  /** Fill the database. */
  statements: string[];
  /** Ratios to reach. */
  build: number;
  load: number;
  /** Statements before a further build, with what is changed. */
  changes?: { what: string; statement: string }[];
}

/** Builds and loads against `pg_dump -Fd -Z1` and `pg_restore` in turns; medians of three. Compare the ratios: times depend on the machine. */
export async function benchPostgres({ statements, build, load, changes = [] }: PostgresBench): Promise<void> {
  const report = (): void => {};
  const signal = new AbortController().signal;
  const runner = localRunner({ environment: process.env, report });
  const context = { runner, report, signal, clock: () => new Date(), environment: process.env };
  const { pg_dump, pg_restore, psql } = await anyClientTools(context);
  const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
  // As durable as a server comes: what is waited for there is part of what is measured.
  const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', max_wal_size: '1GB' };
  const server = await startThrowAwayServer(context, { settings });
  const sql = (database: string, statement: string): Promise<Measured> =>
    measuredRun(psql, ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', server.url(database), '-c', statement]);
  try {
    await sql('postgres', 'CREATE DATABASE bench');
    for (const statement of statements) await sql('bench', statement);
    const archive = join(folder, 'archive');
    const work = join(folder, 'work');
    const config = join(folder, 'tool.yml');
    const urls = `{src_url: "${server.url('bench')}", dst_url: "${server.url('copy')}"}`;
    const text = `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${work}\ndefaults: {cpus: ${JOBS}}\ntargets:\n  bench:\n    snapshot: ${urls}\n`;
    await writeFile(config, text, { mode: 0o600 });
    const tool = (...args: string[]): Promise<Measured> => {
      const program = new URL('../../dist/tool.js', import.meta.url).pathname;
      return measuredRun(process.execPath, [program, '--config', config, '--json', '--yes', ...args]);
    };
    const [dumps, builds, restores, loads]: Measured[][] = [[], [], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      await rm(archive, { recursive: true, force: true });
      await rm(work, { recursive: true, force: true });
      await mkdir(work);
      dumps?.push(await measuredRun(pg_dump, ['-Fd', `-j${JOBS}`, '-Z1', '-f', archive, '-d', server.url('bench')]));
      builds?.push(await tool('build', 'bench'));
      await sql('postgres', 'DROP DATABASE IF EXISTS raw WITH (FORCE)');
      await sql('postgres', 'CREATE DATABASE raw');
      await sql('postgres', `ALTER DATABASE raw SET maintenance_work_mem = '1GB'`);
      restores?.push(await measuredRun(pg_restore, ['-Fd', `-j${JOBS}`, '-d', server.url('raw'), archive]));
      loads?.push(await tool('load', 'bench', '--no-undo'));
    }
    printTable([
      ['', 'seconds', 'ratio', 'to reach', 'MB stored', 'MB of memory'],
      [`pg_dump -Fd -j${JOBS} -Z1`, seconds(dumps), '1', '', mb(await size(archive)), ''],
      ['tool build', seconds(builds), ratio(builds, dumps), `${build}`, mb(await size(work)), memory(builds)],
      [`pg_restore -j${JOBS}, 1 GB for indexes`, seconds(restores), '1', '', '', ''],
      ['tool load', seconds(loads), ratio(loads, restores), `${load}`, '', memory(loads)],
    ]);
    const all = await size(work);
    for (const { what, statement } of [{ what: 'nothing', statement: 'SELECT 1' }, ...changes]) {
      await sql('bench', statement);
      const before = await size(work);
      const again = await tool('build', 'bench');
      const added = (100 * ((await size(work)) - before)) / all;
      console.log(
        `A further build after ${what}: ${again.seconds.toFixed(1)} s, ${added.toFixed(2)} % of the bytes added`,
      );
    }
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function size(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true });
  const facts = await Promise.all(names.map((name) => stat(join(directory, name))));
  return facts.reduce((sum, fact) => sum + (fact.isFile() ? fact.size : 0), 0);
}

function median(measured: Measured[] = []): number {
  return measured.map((one) => one.seconds).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN;
}

function seconds(measured: Measured[] | undefined): string {
  return median(measured).toFixed(1);
}

function ratio(ours: Measured[] | undefined, theirs: Measured[] | undefined): string {
  return (median(ours) / median(theirs)).toFixed(2);
}

function memory(measured: Measured[] = []): string {
  return `${Math.max(...measured.map(({ megabytes }) => megabytes))}`;
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
