import { readdirSync } from 'node:fs';
import { build } from './build.mjs';
import { MEASURES, runBench } from './figures.mjs';

const files = readdirSync(new URL('../test/bench/', import.meta.url)).filter((file) => file.endsWith('.ts'));
const names = files.map((file) => file.replace(/\.ts$/, ''));
const [name, ...words] = process.argv.slice(2);

if (!names.includes(name) && !(name in MEASURES)) {
  console.error(`Usage: npm run bench -- NAME, where NAME is all, check, or one of: ${names.join(', ')}`);
  process.exit(2);
}
await build();
process.exitCode = name in MEASURES ? MEASURES[name](words) : (runBench(name, words).status ?? 1);
