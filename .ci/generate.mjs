import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { screensReference } from '../screens/app/reference.ts';
import { commandReference } from '../src/cli/reference.ts';
import { COMMANDS, GLOBAL_OPTIONS } from '../src/commands/registry.ts';
import { generatedFiles } from '../src/config/generate.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const checking = process.argv.includes('--check');

const files = [
  ...generatedFiles(),
  { path: 'docs/commands.md', content: commandReference({ commands: COMMANDS, globalOptions: GLOBAL_OPTIONS }) },
  { path: 'docs/screens.md', content: screensReference() },
];

for (const { path, content } of files) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === content) continue;
  if (checking) {
    console.error(`${path} is not what its source makes of it: npm run generate`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    console.log(`Wrote ${path}`);
  }
}
