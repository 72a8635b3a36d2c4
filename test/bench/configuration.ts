/** `npm run bench -- configuration`: what a thousand targets cost against one, and how fast bad files are answered. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectConfiguration, loadConfiguration } from '../../src/config/load.ts';
import { BAD_FILES } from '../helpers/bad-files.ts';

const ROUNDS = 7;
const LOAD = new URL('../../src/config/load.ts', import.meta.url).href;

const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
const [one, thousand] = await Promise.all([writeTargets(1), writeTargets(1000)]);

console.log('Loading and validating, in a new process each time (median, ms)');
const [first, all] = [median(() => cold(one)), median(() => cold(thousand))];
console.log(`    1 target    ${first.toFixed(0).padStart(5)}`);
console.log(` 1000 targets   ${all.toFixed(0).padStart(5)}   ${(all - first).toFixed(0)} more`);

console.log('\nThe same in a process that goes on');
for (const [name, file] of Object.entries({ '    1 target ': one, ' 1000 targets': thousand })) {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    times.push(await timed(() => loadConfiguration({ file, environment: {}, cwd: folder })));
  }
  console.log(`${name}   ${middle(times).toFixed(0).padStart(5)}`);
}

console.log('\nFiles that are not as they should be');
for (const [title, content] of BAD_FILES) {
  const file = join(folder, 'bad.yml');
  await writeFile(file, content, { mode: 0o600 });
  const time = await timed(() => inspectConfiguration({ file, environment: {}, cwd: folder }));
  console.log(`${time.toFixed(0).padStart(6)}  ${title}`);
}
await rm(folder, { recursive: true });

async function writeTargets(count: number): Promise<string> {
  const target = (index: number): string =>
    `  app${index}:\n    snapshot:\n      src_url: postgres://u@h/app${index}\n      dst_url: postgres://localhost/app${index}\n`;
  const file = join(folder, `${count}.yml`);
  const targets = Array.from({ length: count }, (_, index) => target(index));
  await writeFile(file, `secret_key: 0123456789abcdef0123456789abcdef\ntargets:\n${targets.join('')}`, { mode: 0o600 });
  return file;
}

/** Without the loading of the modules, which is the same for both. */
function cold(file: string): number {
  const script = `
    const { loadConfiguration } = await import('${LOAD}');
    const started = performance.now();
    await loadConfiguration({ file: ${JSON.stringify(file)}, environment: {}, cwd: '/' });
    console.log(performance.now() - started);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  return Number(stdout);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function median(measure: () => number): number {
  return middle(Array.from({ length: ROUNDS }, measure));
}

function middle(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
