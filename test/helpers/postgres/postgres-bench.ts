import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyClientTools, type ClientTools } from '../../../src/engines/postgres/connection/tools.ts';
import { startThrowAwayServer } from '../../../src/engines/postgres/server/throw-away-server.ts';
import { localRunner } from '../../../src/process/local.ts';
import { keepFigure } from '../keep-figure.ts';
import { PROGRAM } from '../program.ts';
import { cpuSeconds, type Measured, measuredRun, printTable } from '../terminal/measured-run.ts';

const ROUNDS = 5;
const JOBS = 2;

export interface PostgresBench {
  /** Of the kept ratios. */
  name?: string;
  /** Fill the database. */
  statements: string[];
  /** Ratios to reach. */
  build: number;
  load: number;
  /** Ratio of a build to reading all rows with as many sessions, which keep none. */
  reading?: number;
  /** Statements before a further build, with what is changed. */
  changes?: { what: string; statement: string }[];
}

export interface PostgresBenchServer extends AsyncDisposable {
  url(database: string): string;
  tools: ClientTools;
  /** For files of the bench. */
  folder: string;
  /** A configuration with the target `bench`: from the filled database to `copy`. Its folder `work` is beside it. */
  config: string;
  sql(database: string, statement: string): Promise<Measured>;
  /** Seconds of CPU that its processes have taken. */
  cpu(): Promise<number>;
}

/** A server with a filled database `bench`, as durable as a server comes: its syncs are part of what is measured. */
export async function openPostgresBench(statements: string[]): Promise<PostgresBenchServer> {
  const report = (): void => {};
  const signal = new AbortController().signal;
  const runner = localRunner({ environment: process.env, report });
  const context = { runner, report, signal, clock: () => new Date(), environment: process.env };
  const tools = await anyClientTools(context);
  const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
  const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', max_wal_size: '1GB' };
  const { url, stop, directory } = await startThrowAwayServer(context, { settings });
  const sql = (database: string, statement: string): Promise<Measured> =>
    measuredRun(tools.psql, ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', url(database), '-c', statement]);
  const config = join(folder, 'tool.yml');
  const text = `secret_key: ${'ab'.repeat(16)}
working_directory: ${join(folder, 'work')}
defaults: { cpus: ${JOBS} }
saves: { before: [] }
targets: { bench: { snapshot: { src_url: "${url('bench')}", dst_url: "${url('copy')}" } } }
`;
  await writeFile(config, text, { mode: 0o600 });
  const close = async (): Promise<void> => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    console.log('Filling a database');
    await sql('postgres', 'CREATE DATABASE bench');
    for (const statement of statements) await sql('bench', statement);
  } catch (error) {
    await close();
    throw error;
  }
  const cpu = async (): Promise<number> => {
    const [pid] = (await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).split('\n');
    const running = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const all = await Promise.all([pid, ...running.trim().split(' ')].map((one) => cpuSeconds(Number(one))));
    return all.reduce((sum, one) => sum + one, 0);
  };
  return { url, tools, folder, config, sql, cpu, [Symbol.asyncDispose]: close };
}

/** Builds and loads against `pg_dump -Fd -Z1` and `pg_restore` in turns; medians of five. Compare the ratios: times depend on the machine. */
export async function benchPostgres({
  name = '',
  statements,
  build,
  load,
  reading,
  changes = [],
}: PostgresBench): Promise<void> {
  await using server = await openPostgresBench(statements);
  const { url, folder, config, sql } = server;
  const { pg_dump, pg_restore } = server.tools;
  const [archive, work] = [join(folder, 'archive'), join(folder, 'work')];
  const measured = async (file: string, args: string[]): Promise<Costs> => {
    const before = await server.cpu();
    const run = await measuredRun(file, args);
    return { ...run, server: (await server.cpu()) - before };
  };
  const tool = (...args: string[]): Promise<Costs> =>
    measured(process.execPath, [PROGRAM, '--config', config, '--json', '--yes', ...args]);
  const dumps: Costs[] = [];
  const builds: Costs[] = [];
  const restores: Costs[] = [];
  const loads: Costs[] = [];
  const reads: Costs[] = [];
  const byHand: Costs[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await rm(archive, { recursive: true, force: true });
    await rm(work, { recursive: true, force: true });
    dumps.push(await measured(pg_dump, ['-Fd', `-j${JOBS}`, '-Z1', '-f', archive, '-d', url('bench')]));
    builds.push(await tool('build', 'bench'));
    if (reading !== undefined) reads.push(await readAll(server));
    byHand.push(await compressByHand(server));
    await sql('postgres', 'DROP DATABASE IF EXISTS raw WITH (FORCE)');
    await sql('postgres', 'CREATE DATABASE raw');
    await sql('postgres', `ALTER DATABASE raw SET maintenance_work_mem = '1GB'`);
    restores.push(await measured(pg_restore, ['-Fd', `-j${JOBS}`, '-d', url('raw'), archive]));
    loads.push(await tool('load', 'bench', '--no-undo'));
  }
  const own = (costs: Costs[]): string[] => [seconds(costs, ({ cpu }) => cpu), seconds(costs, (one) => one.server)];
  printTable([
    ['', 'seconds', 'ratio', 'to reach', 'CPU s of it', 'CPU s of the server', 'MB stored', 'MB of memory'],
    [`pg_dump -Fd -j${JOBS} -Z1`, seconds(dumps), '1', '', ...own(dumps), mb(await size(archive)), ''],
    [
      'tool build',
      seconds(builds),
      ratio(builds, dumps),
      `${build}`,
      ...own(builds),
      mb(await size(work)),
      memory(builds),
    ],
    [
      `psql | zstd -1, ${JOBS} times half of all pages`,
      seconds(byHand),
      ratio(byHand, dumps),
      '',
      ...own(byHand),
      mb(await size(join(folder, BY_HAND))),
      '',
    ],
    ...(reading === undefined
      ? []
      : [
          [
            `the same to reading alone, ${seconds(reads)} s`,
            '',
            ratio(builds, reads),
            `${reading}`,
            ...own(reads),
            '',
            '',
          ],
        ]),
    [`pg_restore -j${JOBS}, 1 GB for indexes`, seconds(restores), '1', '', ...own(restores), '', ''],
    ['tool load', seconds(loads), ratio(loads, restores), `${load}`, ...own(loads), '', memory(loads)],
  ]);
  keepFigure(`${name}build`, median(builds) / median(dumps));
  keepFigure(`${name}load`, median(loads) / median(restores));
  const swap = Math.max(...loads.map(({ output }) => Number(/"swap_ms":(\d+)/.exec(output)?.[1])));
  console.log(`The swap took ${swap} ms at most (to reach: less than 500 ms)`);
  const all = await size(work);
  for (const { what, statement } of [{ what: 'nothing', statement: 'SELECT 1' }, ...changes]) {
    await sql('bench', statement);
    const objects = join(work, 'objects');
    const [before, objectsBefore] = [await size(work), await size(objects)];
    const again = await tool('build', 'bench');
    const inObjects = (await size(objects)) - objectsBefore;
    const added = (100 * inObjects) / all;
    const manifest = Math.round(((await size(work)) - before - inObjects) / 1000);
    console.log(
      `A further build after ${what}: ${again.seconds.toFixed(1)} s, ${added.toFixed(2)} % of the bytes added (${inObjects} bytes), and a manifest of ${manifest} kB`,
    );
  }
}

interface Costs extends Measured {
  /** Seconds of CPU. */
  server: number;
}

/** The tables one after the other, by sessions that write the rows nowhere. */
async function readAll({ url, tools, cpu, sql }: PostgresBenchServer): Promise<Costs> {
  const { output } = await sql('bench', '\\dt');
  const tables = [...output.matchAll(/public *\| (\w+)/g)].map(([, table]) => table);
  const before = await cpu();
  const runs = await Promise.all(
    Array.from({ length: JOBS }, (_, session) => {
      const copies = tables
        .filter((_table, at) => at % JOBS === session)
        .flatMap((table) => ['-c', `COPY ${table} TO STDOUT`]);
      return measuredRun(tools.psql, ['-Xq', '-o', '/dev/null', '-d', url('bench'), ...copies]);
    }),
  );
  const [first] = runs;
  if (!first) throw new Error('nothing was read');
  const longest = Math.max(...runs.map(({ seconds }) => seconds));
  const own = runs.reduce((sum, run) => sum + run.cpu, 0);
  return { ...first, seconds: longest, cpu: own, server: (await cpu()) - before };
}

const BY_HAND = 'by-hand';

/** What a build cannot do without, by programs: rows of ranges of pages, compressed. No checksum, no definitions, no sync. */
async function compressByHand({ url, tools, cpu, sql, folder }: PostgresBenchServer): Promise<Costs> {
  const { output } = await sql(
    'bench',
    `SELECT relname || ' ' || relpages FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relpages DESC`,
  );
  const tables = [...output.matchAll(/^ (\w+) (\d+)$/gm)].map(([, name, pages]) => ({ name, pages: Number(pages) }));
  const target = join(folder, BY_HAND);
  await mkdir(target, { recursive: true });
  const pipes = Array.from({ length: JOBS }, (_, session) => {
    const copies = tables.map(({ name, pages }) => {
      const from = Math.floor((pages * session) / JOBS);
      const to = session === JOBS - 1 ? pages * 2 + 1000 : Math.floor((pages * (session + 1)) / JOBS);
      return `-c "COPY (SELECT * FROM ${name} WHERE ctid >= '(${from},0)' AND ctid < '(${to},0)') TO STDOUT"`;
    });
    return `'${tools.psql}' -Xq -d '${url('bench')}' ${copies.join(' ')} | zstd -1 -q -f -o '${join(target, `${session}.zst`)}'`;
  });
  const before = await cpu();
  const run = await measuredRun('sh', ['-c', `${pipes.join(' & ')} & wait`]);
  return { ...run, server: (await cpu()) - before };
}

async function size(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true });
  const facts = await Promise.all(names.map((name) => stat(join(directory, name))));
  return facts.reduce((sum, fact) => sum + (fact.isFile() ? fact.size : 0), 0);
}

function median<One extends Measured>(measured: One[], value: (one: One) => number = (one) => one.seconds): number {
  return measured.map(value).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN;
}

function seconds<One extends Measured>(measured: One[], value?: (one: One) => number): string {
  return median(measured, value).toFixed(2);
}

function ratio(ours: Measured[], theirs: Measured[]): string {
  return (median(ours) / median(theirs)).toFixed(2);
}

function memory(measured: Measured[]): string {
  return `${Math.max(...measured.map(({ megabytes }) => megabytes))}`;
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
