/**
 * `npm run bench -- subset [MILLIONS]`: 0.1, 1 and 10 % of one root of 60 tables with ten million rows (or as many
 * millions as said), against reading all the tables that are reached once.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startThrowAwayServer } from '../../src/engines/postgres/throw-away-server.ts';
import { anyClientTools } from '../../src/engines/postgres/tools.ts';
import { localRunner } from '../../src/process/local.ts';
import { type Measured, measuredRun, printTable } from '../helpers/measured-run.ts';

const TABLES = 60;
const JOBS = 2;
const PERCENTAGES = [0.1, 1, 10];
const ROUNDS = 3;
const rows = Number(process.argv[2] ?? 10) * 1e6;
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
const server = await startThrowAwayServer(context, { settings: { max_wal_size: '4GB' } });
try {
  console.log(`Filling ${TABLES} tables with ${rows / 1e6} million rows`);
  await sql('postgres', 'CREATE DATABASE bench');
  for (const statement of filling()) await sql('bench', statement);
  await measure();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const names = Array.from({ length: TABLES }, (_, index) => `t${index}`);
  const reads: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    reads.push(await sql('bench', names.map((name) => `\\copy ${name} TO /dev/null`).join('\n')));
  }
  const read = Math.min(...reads.map(({ seconds }) => seconds));
  const lines = [['', 'seconds', 'of one read', 'rows kept', 'MB of node']];
  for (const percent of PERCENTAGES) {
    const config = await configure(percent);
    const runs: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      runs.push(
        await measuredRun(process.execPath, [
          tool,
          '--config',
          config,
          '--json',
          '--yes',
          'subset',
          'bench',
          '--no-undo',
        ]),
      );
    }
    const seconds = runs.map((run) => run.seconds).sort((a, b) => a - b)[1] ?? Number.NaN;
    const kept = /"rows":(\d+),"proof"/.exec(runs[0]?.output ?? '')?.[1] ?? '?';
    const memory = Math.max(...runs.map(({ megabytes }) => megabytes));
    lines.push([`tool subset ${percent} %`, seconds.toFixed(1), (seconds / read).toFixed(2), kept, `${memory}`]);
  }
  printTable([...lines, ['to reach, 1 %', '', '10', '', '200']]);
  console.log(`One read of all tables by one session: ${read.toFixed(1)} s`);
}

/** A root, tables that refer to it, tables that refer to those, and catalogues that all refer to. */
function filling(): string[] {
  const each = Math.round(rows / TABLES);
  const table = (number: number): string[] => {
    const parent = number < 4 ? null : number < 24 ? 0 : number - 20;
    const columns = parent === null ? '' : `, parent_id integer NOT NULL, list_id integer`;
    const values = parent === null ? '' : `, 1 + abs(hashint8(i * ${number + 1})) % ${each}, 1 + i % ${each}`;
    return [
      `CREATE TABLE t${number} (id integer PRIMARY KEY${columns}, words text)`,
      `INSERT INTO t${number} SELECT i${values}, md5(i::text) || md5((i + 1)::text) FROM generate_series(1, ${each}) i`,
      ...(parent === null
        ? []
        : [
            `CREATE INDEX ON t${number} (parent_id)`,
            `ALTER TABLE t${number} ADD FOREIGN KEY (parent_id) REFERENCES t${parent}`,
            `ALTER TABLE t${number} ADD FOREIGN KEY (list_id) REFERENCES t${1 + (number % 3)}`,
          ]),
    ];
  };
  return [...Array.from({ length: TABLES }, (_, number) => table(number)).flat(), 'ANALYZE'];
}

async function configure(percent: number): Promise<string> {
  const config = join(folder, `tool-${percent}.yml`);
  const text = `secret_key: ${'ab'.repeat(16)}
working_directory: ${join(folder, 'work')}
defaults: {cpus: ${JOBS}}
targets:
  bench:
    subset:
      src_url: ${server.url('bench')}
      dst_url: ${server.url('small')}
      subset_tables: [{table: public.t0, percent: ${percent}}]
`;
  await writeFile(config, text, { mode: 0o600 });
  return config;
}

async function sql(database: string, statements: string): Promise<Measured> {
  const file = join(folder, 'statements.sql');
  await writeFile(file, statements);
  return measuredRun(psql, ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', server.url(database), '-f', file]);
}
