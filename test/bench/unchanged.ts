/** `npm run bench -- unchanged [MEGABYTES] [one]`: builds after a change, compared with the first one; 60 tables (default 450 MB), or one large table. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { benchData } from '../helpers/databases/bench-data.ts';
import { keepFigure } from '../helpers/keep-figure.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 450);
const isOne = process.argv[3] === 'one';
const ROUNDS = Number(process.env.ROUNDS ?? 5);

const DATA = isOne
  ? benchData({ megabytes: megabytes * 2, tables: 1 })
  : benchData({ megabytes, tables: 60, even: true });
const CHANGES = [
  { what: 'nothing', statement: 'SELECT 1', most: 0.15 },
  { what: 'one row of one table', statement: 'UPDATE account SET name = name WHERE id = 1', most: 0.15 },
  ...(isOne
    ? [
        {
          what: '0.4 % of the rows of the large table appended',
          statement: `INSERT INTO event SELECT (SELECT max(id) FROM event) + id, account_id, kind, happened, amount, path, agent, trace
            FROM event WHERE id <= (SELECT max(id) / 250 FROM event)`,
          most: 0.3,
        },
      ]
    : []),
];

await using server = await openPostgresBench(DATA);
const seconds = new Map<string, { wall: number[]; client: number[]; server: number[]; read: string }>();

async function build(what: string, ...flags: string[]): Promise<string> {
  const before = await server.cpu();
  const run = await measuredRun(process.execPath, [
    PROGRAM,
    '--config',
    server.config,
    '--json',
    '--yes',
    'build',
    'bench',
    ...flags,
  ]);
  const read = /"tables_read":\d+,"tables_partly_read":\d+,"tables_unchanged":\d+/.exec(run.output)?.[0] ?? '';
  const of = seconds.get(what) ?? { wall: [], client: [], server: [], read };
  of.wall.push(run.seconds);
  of.client.push(run.cpu);
  of.server.push((await server.cpu()) - before);
  seconds.set(what, { ...of, read });
  return run.output;
}

const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;

for (let round = 0; round < ROUNDS; round += 1) {
  await rm(join(server.folder, 'work'), { recursive: true, force: true });
  await build('first');
  for (const { what, statement } of CHANGES) {
    await server.sql('bench', statement);
    await build(what);
  }
  await build('the last one with --full', '--full');
}
const first = median(seconds.get('first')?.wall ?? []);
printTable([
  ['build after', 'seconds', 'of the first', 'to reach', 'CPU s', 'CPU s of the server', ''],
  ...[...seconds].map(([what, { wall, client, server: own, read }]) => {
    const most = CHANGES.find((one) => one.what === what)?.most;
    const ratio = median(wall) / first;
    if (most !== undefined) keepFigure(`${isOne ? 'one large table' : '60 tables'}, build after ${what}`, ratio);
    return [
      what,
      median(wall).toFixed(2),
      ratio.toFixed(2),
      `${most ?? ''}`,
      median(client).toFixed(2),
      median(own).toFixed(2),
      read,
    ];
  }),
]);
