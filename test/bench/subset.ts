/**
 * `npm run bench -- subset [postgres|mariadb] [MILLIONS]`: 0.1, 1 and 10 % of one root of 60 tables with ten million
 * rows (or as many millions as said), against reading all the tables that are reached once.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyClientTools } from '../../src/engines/postgres/connection/tools.ts';
import { startThrowAwayServer } from '../../src/engines/postgres/server/throw-away-server.ts';
import { startMysql } from '../helpers/mysql/mysql-server.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { type Measured, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const TABLES = 60;
const JOBS = 2;
const PERCENTAGES = [0.1, 1, 10];
const ROUNDS = 3;
const [, , engine = 'postgres', millions = '10'] = process.argv;
const rows = Number(millions) * 1e6;
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));

interface BenchServer {
  url(database: string): string;
  /** Stands before the name of a table in the configuration. */
  prefix: string;
  fill(): Promise<void>;
  /** All tables, by one session, to nowhere. */
  readAll(tables: string[]): Promise<Measured>;
  stop(): Promise<void>;
}

const SERVERS: Record<string, () => Promise<BenchServer>> = { postgres: startPostgres, mariadb: startMariadb };

const start = SERVERS[engine];
if (!start) throw new Error(`There is no bench of subsets of ${engine}: ${Object.keys(SERVERS).join(', ')}`);
const server = await start();
try {
  console.log(`Filling ${TABLES} tables with ${rows / 1e6} million rows`);
  await server.fill();
  await measure();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const names = Array.from({ length: TABLES }, (_, index) => `t${index}`);
  const reads: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1) reads.push(await server.readAll(names));
  const read = Math.min(...reads.map(({ seconds }) => seconds));
  const lines = [['', 'seconds', 'of one read', 'rows kept', 'MB of node']];
  for (const percent of PERCENTAGES) {
    const words = ['--config', await configure(percent), '--json', '--yes', 'subset', 'bench', '--no-undo'];
    const runs: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1) runs.push(await measuredRun(process.execPath, [tool, ...words]));
    const seconds = runs.map((run) => run.seconds).sort((a, b) => a - b)[1] ?? Number.NaN;
    const kept = /"rows":(\d+),"proof"/.exec(runs[0]?.output ?? '')?.[1] ?? '?';
    const memory = Math.max(...runs.map(({ megabytes }) => megabytes));
    lines.push([`tool subset ${percent} %`, seconds.toFixed(1), (seconds / read).toFixed(2), kept, `${memory}`]);
  }
  printTable([...lines, ['to reach, 1 %', '', '10', '', '200']]);
  console.log(`One read of all tables by one session: ${read.toFixed(1)} s`);
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
      subset_tables: [{table: ${server.prefix}.t0, percent: ${percent}}]
`;
  await writeFile(config, text, { mode: 0o600 });
  return config;
}

/** How an engine makes the rows. */
interface Dialect {
  /** A number that looks like chance, of `i` and another number. */
  scatter(number: number): string;
  words: string;
  from(count: number): string;
}

/** A root, tables that refer to it, tables that refer to those, and catalogs that all refer to. */
function filling({ scatter, words, from }: Dialect): string[] {
  const each = Math.round(rows / TABLES);
  return Array.from({ length: TABLES }, (_, number) => {
    const parent = number < 4 ? null : number < 24 ? 0 : number - 20;
    const columns = parent === null ? '' : ', parent_id INTEGER NOT NULL, list_id INTEGER';
    const values = parent === null ? '' : `, 1 + ${scatter(number + 1)} % ${each}, 1 + i % ${each}`;
    return [
      `CREATE TABLE t${number} (id INTEGER PRIMARY KEY${columns}, words VARCHAR(64))`,
      `INSERT INTO t${number} SELECT i${values}, ${words} FROM ${from(each)}`,
      ...(parent === null
        ? []
        : [
            `CREATE INDEX t${number}_parent ON t${number} (parent_id)`,
            `ALTER TABLE t${number} ADD FOREIGN KEY (parent_id) REFERENCES t${parent} (id)`,
            `ALTER TABLE t${number} ADD FOREIGN KEY (list_id) REFERENCES t${1 + (number % 3)} (id)`,
          ]),
    ];
  }).flat();
}

async function startPostgres(): Promise<BenchServer> {
  const context = testContext({ settings: {} });
  const { psql } = await anyClientTools(context);
  const { url, stop } = await startThrowAwayServer(context);
  const sql = async (database: string, statements: string): Promise<Measured> => {
    const file = join(folder, 'statements.sql');
    await writeFile(file, statements);
    return measuredRun(psql, ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', url(database), '-f', file]);
  };
  const dialect: Dialect = {
    scatter: (number) => `abs(hashint8(i * ${number}))`,
    words: 'md5(i::text) || md5((i + 1)::text)',
    from: (count) => `generate_series(1, ${count}) i`,
  };
  return {
    ...{ url, stop, prefix: 'public' },
    async fill() {
      await sql('postgres', 'CREATE DATABASE bench');
      for (const statement of [...filling(dialect), 'ANALYZE']) await sql('bench', statement);
    },
    readAll: (tables) => sql('bench', tables.map((name) => `\\copy ${name} TO /dev/null`).join('\n')),
  };
}

async function startMariadb(): Promise<BenchServer> {
  const server = await startMysql('mariadb', ['--innodb-buffer-pool-size=1G', '--innodb-log-file-size=512M']);
  const login = ['--no-defaults', '--host=127.0.0.1', `--port=${server.port}`, '--user=root', 'bench'];
  const dialect: Dialect = {
    scatter: (number) => `CRC32(i * ${number})`,
    words: 'CONCAT(MD5(i), MD5(i + 1))',
    from: (count) => `(SELECT seq AS i FROM seq_1_to_${count}) s`,
  };
  return {
    ...{ url: server.url, stop: server.stop, prefix: 'bench' },
    async fill() {
      await server.createDatabase('bench');
      await server.sql('bench', 'SET foreign_key_checks = 0', ...filling(dialect));
    },
    readAll(tables) {
      const statements = tables.map((name) => `SELECT * FROM ${name};`).join(' ');
      const words = ['mariadb', ...login, '--quick', '--batch', '--skip-column-names', '--execute', statements];
      return measuredRun('sh', ['-c', '"$@" > /dev/null', ...['sh', ...words]]);
    },
  };
}
