/** `npm run bench -- configuration`: what a thousand targets cost, against one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfiguration } from '../../src/config/load.ts';

const ROUNDS = 7;
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
const sizes = [1, 1000].map((count) => ({ count, file: join(folder, `${count}.yml`), times: [] as number[] }));
for (const { count, file } of sizes) await writeFile(file, configuration(count), { mode: 0o600 });
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { file, times } of sizes) {
    const started = performance.now();
    await loadConfiguration({ file, environment: {}, cwd: folder, report: () => {} });
    times.push(performance.now() - started);
  }
}
for (const { count, times } of sizes) {
  const median = times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${String(count).padStart(5)} targets  ${median.toFixed(0)} ms`);
}
await rm(folder, { recursive: true });

function configuration(count: number): string {
  const target = (index: number): string =>
    `  app${index}:\n    snapshot:\n      src_url: postgres://u@h/app${index}\n      dst_url: postgres://localhost/app${index}\n`;
  const targets = Array.from({ length: count }, (_, index) => target(index));
  return `secret_key: 0123456789abcdef0123456789abcdef\ntargets:\n${targets.join('')}`;
}
