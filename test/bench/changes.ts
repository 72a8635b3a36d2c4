/** `npm run bench -- changes [MEGABYTES]`: `tool changes` with 1,000 changed rows in 5 of 60 tables (default 450 MB), after a save, and after a load with a base copy. */
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { type Measured, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 450);
const ROUNDS = Number(process.env.ROUNDS ?? 5);

await using server = await openPostgresBench(benchData({ megabytes, tables: 60, even: true }));
const runs = new Map<string, (Measured & { server: number })[]>();

async function tool(what: string, ...args: string[]): Promise<void> {
  const before = await server.cpu();
  const run = await measuredRun(process.execPath, [PROGRAM, '--config', server.config, '--json', '--yes', ...args]);
  runs.set(what, [...(runs.get(what) ?? []), { ...run, server: (await server.cpu()) - before }]);
}

await tool('build', 'build', 'bench');
await tool('load', 'load', 'bench', '--no-undo', '--keep-base');
await tool('first save', 'save', 'bench', 'start');
for (const table of ['part_01', 'part_02', 'part_03', 'part_04', 'part_05']) {
  await server.sql('copy', `UPDATE ${table} SET stock = stock + 1 WHERE id <= 200`);
}
for (let round = 0; round < ROUNDS; round += 1) {
  await tool('changes since the save', 'changes', 'bench', '--since', 'start');
  await tool('changes since the load', 'changes', 'bench');
}
const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
printTable([
  ['', 'seconds', 'CPU s', 'CPU s of the server', 'MB of memory'],
  ...[...runs].map(([what, all]) => {
    const wall = median(all.map(({ seconds }) => seconds));
    return [
      what,
      wall.toFixed(2),
      median(all.map(({ cpu }) => cpu)).toFixed(2),
      median(all.map((one) => one.server)).toFixed(2),
      median(all.map(({ megabytes: own }) => own)).toFixed(0),
    ];
  }),
]);
