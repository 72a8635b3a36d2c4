/**
 * `npm run bench -- difference-rows [MEGABYTES]`: loads of snapshots in which rows of one table differ (default 400 MB,
 * four indexes and a foreign key), from the base copy against full loads, in turns; medians of three. The last cases are
 * around the share from which the table is loaded whole.
 */
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = Number(process.argv[3] ?? 3);
const update = (percent: number): string => `UPDATE event SET amount = amount + 1 WHERE random() < ${percent / 100}`;

const CHANGES = [
  {
    what: '0.4 % appended',
    statement: `INSERT INTO event SELECT id + 100000000, account_id, kind, happened + interval '1 year', amount, path, agent, trace
      FROM event WHERE id <= (SELECT count(*) * 0.004 FROM event)`,
    ratio: '0.25',
  },
  { what: '1 % updated', statement: update(1), ratio: '0.4' },
  { what: '5 % updated', statement: update(5), ratio: '' },
  { what: '10 % updated', statement: update(10), ratio: '' },
  { what: '20 % updated', statement: update(20), ratio: '' },
];

const megabytes = Number(process.argv[2] ?? 400);
const statements = benchData({ megabytes: 2 * megabytes }).filter((statement) => !/\bpart_/.test(statement));
await using server = await openPostgresBench(statements);
process.env.TOOL_TARGETS__BENCH__SNAPSHOT__KEEP_BASE = 'false';
await measure();

interface Costs {
  seconds: number;
  /** Processor time of program and server. */
  cpu: number;
  text: string;
}

async function measure(): Promise<void> {
  await tool('build', 'bench');
  const rows: string[][] = [];
  for (const { what, statement, ratio } of CHANGES) {
    await server.sql('bench', statement);
    await tool('build', 'bench');
    const [full, ours]: [Costs[], Costs[]] = [[], []];
    let way = '';
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [costs, words] of [
        [full, ['--full']],
        [ours, []],
      ] as const) {
        await tool('load', 'bench', '1', '--full', '--keep-base');
        const run = await tool('load', 'bench', '0', ...words);
        costs.push(run);
        if (costs === ours) way = wayOf(run.text);
      }
    }
    const [a, b] = [median(ours, 'seconds') / median(full, 'seconds'), median(ours, 'cpu') / median(full, 'cpu')];
    rows.push([
      ...[what, way, median(full, 'seconds').toFixed(1), median(ours, 'seconds').toFixed(1), a.toFixed(2)],
      ...[median(full, 'cpu').toFixed(1), median(ours, 'cpu').toFixed(1), b.toFixed(2), ratio],
    ]);
    printTable([
      ['', 'event by', 'full, s', 'from the base copy, s', 'ratio', 'full, CPU s', 'ours, CPU s', 'ratio', 'to reach'],
      ...rows,
    ]);
  }
}

function wayOf(text: string): string {
  const { difference } = JSON.parse(text.trim().split('\n').at(-1) ?? '');
  const { method, deleted, inserted, reason } = difference.by_table[0];
  return method === 'rows' ? `rows: ${deleted} deleted, ${inserted} inserted` : `whole: ${reason}`;
}

async function tool(...words: string[]): Promise<Costs> {
  const before = await server.cpu();
  const args = [PROGRAM, '--config', server.config, '--json', '--yes', ...words];
  const { seconds, cpu, output } = await measuredRun(process.execPath, args);
  return { seconds, cpu: cpu + (await server.cpu()) - before, text: output };
}

function median(costs: Costs[], which: 'seconds' | 'cpu'): number {
  return costs.map((one) => one[which]).sort((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Number.NaN;
}
