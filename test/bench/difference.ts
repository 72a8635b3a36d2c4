/**
 * `npm run bench -- difference [MEGABYTES]`: a load of a snapshot of which 5 % of the tables by bytes differ from the
 * base copy, against a full load of it (default 450 MB, half of it one table), in one run and in turns; medians of three.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { PROGRAM } from '../helpers/program.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = 3;
/** Of 30 tables that are half of the bytes. */
const CHANGED = ['part_01', 'part_02', 'part_03'];

const METHODS = [
  { name: 'full load', base: ['--keep-base'], words: ['--full'], method: 'full', against: 0 },
  { name: 'from the base copy', base: ['--keep-base'], words: [], method: 'difference', against: 0 },
  { name: 'from the spare', base: ['--spare'], words: [], method: 'difference', against: 0 },
  {
    name: 'full load --keep-base',
    base: ['--keep-base'],
    words: ['--full', '--keep-base'],
    method: 'full',
    against: 3,
  },
  {
    name: 'from the base copy, --keep-base',
    base: ['--keep-base'],
    words: ['--keep-base'],
    method: 'difference',
    against: 3,
  },
];

await using server = await openPostgresBench(benchData({ megabytes: Number(process.argv[2] ?? 450) }));
await measure();

interface Loaded {
  seconds: number;
  difference: { method: string; size_bytes: number; saved_bytes: number };
}

async function measure(): Promise<void> {
  await run('build', 'bench');
  for (const table of CHANGED) await server.sql('bench', `UPDATE ${table} SET price = price + 1`);
  await run('build', 'bench');
  const measured = METHODS.map((): number[] => []);
  let share = Number.NaN;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { base, words, method }] of METHODS.entries()) {
      await run('load', 'bench', '1', '--full', ...base);
      const { seconds, difference } = await run('load', 'bench', '0', ...words);
      if (difference.method !== method) throw new Error(`${words.join(' ')} was a load by ${difference.method}`);
      if (method === 'difference') share = difference.size_bytes / (difference.size_bytes + difference.saved_bytes);
      measured[index]?.push(seconds);
    }
  }
  console.log(`${(100 * share).toFixed(1)} % of the bytes are in tables that differ`);
  printTable([
    ['', 'seconds', 'of the full load', 'to reach'],
    ...METHODS.map(({ name, against, method }, index) => {
      const [ours, full] = [median(measured[index] ?? []), median(measured[against] ?? [])];
      return [name, ours.toFixed(2), (ours / full).toFixed(2), method === 'full' ? '' : '0.35'];
    }),
  ]);
}

async function run(...words: string[]): Promise<Loaded> {
  const args = [PROGRAM, '--config', server.config, '--json', '--yes', ...words];
  const started = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) last = line;
  const { event, difference } = JSON.parse(last);
  if (event !== 'done') throw new Error(last);
  return { seconds: (performance.now() - started) / 1000, difference };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
