/**
 * `npm run bench -- reset-in-place [MEGABYTES]`: a reset in place against one by copy, of 100 tables (default 1000 MB), of
 * which 5 have 1,000 changed rows each; medians of five, behind a checkpoint each.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = 5;
const TABLES = 100;
const CHANGED = 5;
/** Size of a row with its share of the index. */
const ROW_BYTES = 165;

const rows = Math.round((Number(process.argv[2] ?? 1000) * 1e6) / TABLES / ROW_BYTES);
await using server = await openPostgresBench(
  Array.from(
    { length: TABLES },
    (_, at) => `
      CREATE TABLE t_${at} (id integer PRIMARY KEY, amount integer, note text);
      INSERT INTO t_${at} SELECT i, i % 1000, repeat(md5(i::text), 3) FROM generate_series(1, ${rows}) i`,
  ),
);

interface Timed {
  /** With the start of the program and the plan. */
  seconds: number;
  /** From the first step to the last. */
  applied: number;
}

const run = async (...words: string[]): Promise<Timed> => {
  const args = [PROGRAM, '--config', server.config, '--json', '--yes', ...words];
  const started = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const times: number[] = [];
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).event === 'step') times.push(performance.now());
    last = line;
  }
  const { event, way } = JSON.parse(last);
  if (event !== 'done') throw new Error(last);
  if (words[0] === 'reset' && way !== (words.includes('--copy') ? 'copy' : 'in_place')) throw new Error(last);
  return {
    seconds: (performance.now() - started) / 1000,
    applied: ((times.at(-1) ?? Number.NaN) - (times[0] ?? Number.NaN)) / 1000,
  };
};

await run('build', 'bench');
await run('load', 'bench', '--keep-base');
const [ours, theirs]: [Timed[], Timed[]] = [[], []];
for (const [way, timed] of [
  ['in_place', ours],
  ['copy', theirs],
] as const) {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let table = 0; table < CHANGED; table += 1) {
      const change = `UPDATE t_${table * 7} SET amount = amount + 1 WHERE id % ${Math.floor(rows / 1000)} = ${round}`;
      await server.sql('copy', change);
    }
    await server.sql('copy', 'CHECKPOINT');
    timed.push(await run('reset', 'bench', '--no-undo', ...(way === 'copy' ? ['--copy'] : [])));
  }
}
const median = (timed: Timed[], what: keyof Timed): number =>
  timed.map((one) => one[what]).sort((a, b) => a - b)[Math.floor(timed.length / 2)] ?? Number.NaN;
const row = (name: string, timed: Timed[]): string[] => [
  ...[name, median(timed, 'seconds').toFixed(2), (median(timed, 'seconds') / median(theirs, 'seconds')).toFixed(2)],
  ...[median(timed, 'applied').toFixed(2), (median(timed, 'applied') / median(theirs, 'applied')).toFixed(2)],
];
printTable([
  ['', 'seconds', 'of the copy', 'applied, s', 'of the copy'],
  row('tool reset --no-undo', ours),
  row('tool reset --no-undo --copy', theirs),
]);
