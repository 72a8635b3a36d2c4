/**
 * `npm run bench -- mysql-reset [MEGABYTES] [FLAVOUR]`: resets in place, then resets by copy, of a destination, then of a
 * branch; of 100 tables (default 1000 MB), of which 5 have 1,000 changed rows each; medians of five after a first one.
 * Processor time is of program and server.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMysql } from '../helpers/mysql/mysql-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { cpuSeconds, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = 5;
const TABLES = 100;
const CHANGED = 5;
/** Size of a row with its share of the index. */
const ROW_BYTES = 165;
const rows = Math.round((Number(process.argv[2] ?? 1000) * 1e6) / TABLES / ROW_BYTES);

interface Costs {
  seconds: number;
  cpu: number;
}

const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
const server = await startMysql(process.argv[3] === 'mysql' ? 'mysql' : 'mariadb', [
  '--innodb-buffer-pool-size=1G',
  '--max-heap-table-size=64M',
]);
try {
  console.log('Filling a database');
  await server.createDatabase('bench');
  const digits = 'SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4';
  await server.sql(
    'bench',
    'CREATE TABLE numbers (i INT PRIMARY KEY)',
    `INSERT INTO numbers SELECT 1 + ${Array.from({ length: 8 }, (_, at) => `d${at}.n * ${5 ** at}`).join(' + ')} AS i
     FROM ${Array.from({ length: 8 }, (_, at) => `(${digits}) d${at}`).join(', ')} HAVING i <= ${rows}`,
  );
  for (let at = 0; at < TABLES; at += 1)
    await server.sql(
      'bench',
      `CREATE TABLE t_${at} (id INT PRIMARY KEY, amount INT, note TEXT, KEY (amount))`,
      `INSERT INTO t_${at} SELECT i, i % 1000, REPEAT(LEFT(SHA2(i, 256), 32), 3) FROM numbers`,
    );
  await server.sql('bench', 'DROP TABLE numbers');
  const text = `secret_key: ${'ab'.repeat(16)}
working_directory: ${join(folder, 'work')}
defaults: { cpus: 2 }
saves: { before: [] }
targets: { bench: { snapshot: { src_url: "${server.url('bench')}", dst_url: "${server.url('copy')}" } } }
`;
  await writeFile(join(folder, 'tool.yml'), text, { mode: 0o600 });
  await tool('build', 'bench');
  await tool('load', 'bench', '--keep-base');
  await tool('branch', 'create', 'bench', 'test');
  await measure('copy', ['reset', 'bench', '--no-undo']);
  await measure('copy_test', ['branch', 'reset', 'bench', 'test']);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(database: string, words: string[]): Promise<void> {
  const costs: Record<'copy' | 'in_place', Costs[]> = { copy: [], in_place: [] };
  const found: string[][] = [];
  for (const way of ['in_place', 'copy'] as const) {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (let table = 0; table < CHANGED; table += 1) {
        const where = `id % ${Math.floor(rows / 1000)} = ${round}`;
        await server.sql(database, `UPDATE t_${table * 7} SET amount = amount + 1 WHERE ${where}`);
      }
      const { output, ...cost } = await tool(...words, ...(way === 'copy' ? ['--copy'] : []));
      const done = JSON.parse(output.trim().split('\n').at(-1) ?? '{}');
      if ((done.branches?.[0] ?? done).way !== way) throw new Error(output);
      // The first one in place compares what the load has just written.
      if (round > 0) costs[way].push(cost);
      found.push([`${way} ${round === 0 ? 'first' : round}`, cost.seconds.toFixed(2), cost.cpu.toFixed(2)]);
    }
  }
  const ratio = (which: keyof Costs): string => (median(costs.in_place, which) / median(costs.copy, which)).toFixed(3);
  printTable([[words.join(' '), 'seconds', 'CPU s'], ...found, ['ratio of medians', ratio('seconds'), ratio('cpu')]]);
}

async function tool(...words: string[]): Promise<Costs & { output: string }> {
  const before = await serverCpu();
  const args = [PROGRAM, '--config', join(folder, 'tool.yml'), '--json', '--yes', ...words];
  const { seconds, cpu, output } = await measuredRun(process.execPath, args);
  return { seconds, cpu: cpu + (await serverCpu()) - before, output };
}

async function serverCpu(): Promise<number> {
  return cpuSeconds(Number(await readFile(join(server.directory, 'pid'), 'utf8')));
}

function median(costs: Costs[], which: keyof Costs): number {
  return costs.map((one) => one[which]).sort((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Number.NaN;
}
