/**
 * `npm run bench -- mysql-rows [MEGABYTES] [ROUNDS] [LOCAL_INFILE]`: loads of snapshots in which rows of one of 40 tables
 * differ (default 600 MB, half of them in the table `event`, with three indexes), from the base copy against full loads,
 * in turns; medians of three. Processor time is of program and server.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mysqlBenchData } from '../helpers/mysql/mysql-bench-data.ts';
import { startMysql } from '../helpers/mysql/mysql-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { cpuSeconds, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 600);
const ROUNDS = Number(process.argv[3] ?? 3);
/** On a server that takes rows fast, a load that keeps no base copy is a full one. */
const KEEP_BASE = process.argv[4] === 'OFF' ? ['true', 'false'] : ['true'];
const LAST = '(SELECT n FROM (SELECT MAX(id) AS n FROM event) AS last)';
const UPDATED = 'UPDATE event SET amount = amount + 1 WHERE CRC32(id) % 100 = 7';
const APPENDED = `INSERT INTO event (account_id, kind, happened, amount, path, agent, trace)
  SELECT account_id, kind, happened, amount, path, agent, MD5(id) FROM event WHERE id <= 0.004 * ${LAST}`;
const CHANGES = [
  { what: 'one small table', statement: 'UPDATE part_01 SET stock = stock + 1 WHERE id % 7 = 0' },
  { what: '1 % updated at random', statement: UPDATED },
  { what: '0.4 % appended', statement: APPENDED },
];

const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
const config = join(folder, 'tool.yml');
const server = await startMysql('mariadb', [
  '--innodb-buffer-pool-size=1G',
  '--innodb-log-file-size=512M',
  `--local-infile=${process.argv[4] ?? 'ON'}`,
]);
try {
  console.log('Filling a database');
  await server.createDatabase('bench');
  await server.sql('bench', ...mysqlBenchData({ megabytes }));
  const text = `secret_key: ${'ab'.repeat(16)}
working_directory: ${join(folder, 'work')}
defaults: { cpus: 2 }
saves: { before: [] }
targets: { bench: { snapshot: { src_url: "${server.url('bench')}", dst_url: "${server.url('copy')}" } } }
`;
  await writeFile(config, text, { mode: 0o600 });
  await measureLoads();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

interface Costs {
  seconds: number;
  cpu: number;
  text: string;
}

async function measureLoads(): Promise<void> {
  await tool('build', 'bench');
  const rows = [['', 'full, s', 'from the base copy, s', 'ratio', 'full, CPU s', 'ours, CPU s', 'ratio']];
  for (const { what, statement } of CHANGES) {
    await server.sql('bench', statement);
    await tool('build', 'bench');
    for (const keep_base of KEEP_BASE) {
      const [full, ours]: [Costs[], Costs[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [costs, words] of [
          [full, ['--full']],
          [ours, []],
        ] as const) {
          await tool('load', 'bench', '1', '--full', '--keep-base');
          process.env.TOOL_TARGETS__BENCH__SNAPSHOT__KEEP_BASE = keep_base;
          costs.push(await tool('load', 'bench', '0', ...words));
        }
      }
      const { method, by_table: ways } = JSON.parse(ours[0]?.text.trim().split('\n').at(-1) ?? '').difference;
      rows.push([`${what}, keep_base: ${keep_base}: ${ways?.[0]?.method ?? method}`, ...compared(full, ours)]);
    }
  }
  printTable(rows);
}

function compared(theirs: Costs[], ours: Costs[]): string[] {
  return (['seconds', 'cpu'] as const).flatMap((which) => {
    const [a, b] = [median(theirs, which), median(ours, which)];
    return [a.toFixed(1), b.toFixed(1), (b / a).toFixed(2)];
  });
}

async function tool(...words: string[]): Promise<Costs> {
  const before = await serverCpu();
  const args = [PROGRAM, '--config', config, '--json', '--yes', ...words];
  const { seconds, cpu, output } = await measuredRun(process.execPath, args);
  return { seconds, cpu: cpu + (await serverCpu()) - before, text: output };
}

async function serverCpu(): Promise<number> {
  return cpuSeconds(Number(await readFile(join(server.directory, 'pid'), 'utf8')));
}

function median(costs: Costs[], which: 'seconds' | 'cpu'): number {
  return costs.map((one) => one[which]).sort((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Number.NaN;
}
