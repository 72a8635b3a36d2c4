import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { COMMANDS, GLOBAL_OPTIONS } from '../src/commands/registry.ts';
import { readVersion } from '../src/runtime/package-files.ts';
import { PARTS } from '../test/prove/promises.ts';
import { withAccessTable } from './generate/access-table.ts';
import { commandReference } from './generate/commands-page.ts';
import { generatedFiles } from './generate/configuration/files.ts';
import { withErrorCodes } from './generate/error-codes.ts';
import { eventsSchema } from './generate/json-contract/schema.ts';
import { manPage } from './generate/man-page.ts';
import { openApiDocument } from './generate/openapi.ts';
import { rehearsalRules } from './generate/rehearsal-rules.ts';
import { DOCUMENTED } from './pictures/screens.mjs';
import { journalPage, proofPage } from './prove/page.ts';

// Node strips types, but cannot read JSX.
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('.tsx')) return next(url, context);
    const { code } = transformSync(readFileSync(new URL(url), 'utf8'), { loader: 'tsx', jsx: 'automatic' });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
const { screensReference } = await import('./generate/screens-page.ts');

const root = fileURLToPath(new URL('..', import.meta.url));
const checking = process.argv.includes('--check');

const proof = JSON.parse(readFileSync(join(root, 'test/prove/proof.json'), 'utf8'));

const files = [
  ...generatedFiles(readFileSync(join(root, 'docs/configuration.md'), 'utf8')),
  { path: 'assets/openapi.json', content: asJson(openApiDocument()) },
  { path: 'assets/events.schema.json', content: asJson(eventsSchema()) },
  { path: 'docs/commands.md', content: commandReference({ commands: COMMANDS, globalOptions: GLOBAL_OPTIONS }) },
  {
    path: 'assets/tool.1',
    content: manPage({ commands: COMMANDS, globalOptions: GLOBAL_OPTIONS, version: readVersion() }),
  },
  { path: 'docs/screens.md', content: screensReference(DOCUMENTED) },
  { path: 'docs/hub.md', content: withAccessTable(readFileSync(join(root, 'docs/hub.md'), 'utf8')) },
  { path: 'docs/errors.md', content: withErrorCodes(readFileSync(join(root, 'docs/errors.md'), 'utf8')) },
  { path: 'docs/rehearsal-rules.md', content: rehearsalRules() },
  { path: 'docs/proof.md', content: proofPage(proof, PARTS) },
  { path: 'test/prove/journal.md', content: journalPage(proof, PARTS) },
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

function asJson(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
