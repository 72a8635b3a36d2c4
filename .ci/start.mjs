import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

await build();
const program = new URL('../dist/tool.js', import.meta.url);
// In this process, so that the keyboard and the signals reach it as if it had been started by hand.
process.argv = [process.execPath, fileURLToPath(program), 'demo', ...process.argv.slice(2)];
await import(program.href);
