import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const folder = fileURLToPath(new URL('../test/bench/', import.meta.url));
const names = readdirSync(folder).flatMap((file) => (file.endsWith('.ts') ? [file.slice(0, -3)] : []));
const [name, ...words] = process.argv.slice(2);

if (!names.includes(name)) {
  console.error(`Usage: npm run bench -- NAME, where NAME is one of: ${names.join(', ')}`);
  process.exit(2);
}
await build();
const { status } = spawnSync(process.execPath, [`${folder}${name}.ts`, ...words], { stdio: 'inherit' });
process.exitCode = status ?? 1;
