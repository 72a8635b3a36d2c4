/**
 * `npm run bench -- reset [MEGABYTES]`: a reset from the base copy and from the spare against the load that they
 * repeat (default 450 MB, half of it one table), in one run and in turns; medians of three.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = 3;

await using server = await openPostgresBench(benchData({ megabytes: Number(process.argv[2] ?? 450) }));
await measure();

interface Timed {
  seconds: number;
  /** From the answer to the question until the new database is in use, without the start of the program and the plan. */
  applied: number;
  swapMs: number;
}

async function measure(): Promise<void> {
  const run = async (...words: string[]): Promise<Timed> => {
    const args = [PROGRAM, '--config', server.config, '--json', '--yes', ...words];
    const started = performance.now();
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const at: Record<string, number> = {};
    let last = '';
    for await (const line of createInterface({ input: child.stdout })) {
      const { event, step, state } = JSON.parse(line);
      if (event === 'step') at[`${step} ${state}`] = performance.now();
      last = line;
    }
    const { event, swap_ms: swapMs } = JSON.parse(last);
    if (event !== 'done') throw new Error(last);
    const applied = ((at['swap done'] ?? Number.NaN) - (at['prepare started'] ?? Number.NaN)) / 1000;
    return { seconds: (performance.now() - started) / 1000, applied, swapMs };
  };
  await run('build', 'bench');
  const loads: Timed[] = [];
  const keeping: Timed[] = [];
  const resets: Timed[] = [];
  const spares: Timed[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    loads.push(await run('load', 'bench', '--full'));
    keeping.push(await run('load', 'bench', '--full', '--keep-base'));
    resets.push(await run('reset', 'bench'));
    await run('reset', 'bench', '--spare');
    spares.push(await run('reset', 'bench'));
  }
  const row = (name: string, timed: Timed[], goal: string): string[] => [
    ...[name, seconds(timed), ratio(timed, loads, 'seconds')],
    ...[median(timed.map((one) => one.applied)).toFixed(2), ratio(timed, loads, 'applied')],
    ...[`${median(timed.map(({ swapMs }) => swapMs))}`, goal],
  ];
  printTable([
    ['', 'seconds', 'of the load', 'until in use, s', 'of the load', 'unavailable, ms', 'to reach until in use'],
    row('tool load', loads, ''),
    row('tool load --keep-base', keeping, ''),
    row('tool reset, from the base copy', resets, '0.25 of the load'),
    row('tool reset, from the spare', spares, '0.2 s'),
  ]);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function seconds(measured: Timed[]): string {
  return median(measured.map((one) => one.seconds)).toFixed(2);
}

function ratio(ours: Timed[], theirs: Timed[], what: 'seconds' | 'applied'): string {
  return (median(ours.map((one) => one[what])) / median(theirs.map((one) => one[what]))).toFixed(2);
}
