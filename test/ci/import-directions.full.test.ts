import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What every tree below starts from: all of it allowed. */
const house = {
  'src/main.ts': "export const started = import('../screens/start.tsx');",
  'src/runtime/errors.ts': 'export class UserError extends Error {}',
  'src/process/local.ts':
    "import { UserError } from '../runtime/errors.ts';\nimport { spawn } from 'node:child_process';\nexport const run = [spawn, UserError];",
  'src/engines/engine.ts': "import { run } from '../process/local.ts';\nexport const engine = run;",
  'src/operations/load.ts': "import { engine } from '../engines/engine.ts';\nexport const load = engine;",
  'src/presentation/load.ts':
    "import type { load } from '../operations/load.ts';\nexport const text = (given: typeof load) => String(given);",
  'src/commands/load.ts':
    "export const load = () => [import('../operations/load.ts'), import('../presentation/load.ts')];",
  'components/list.tsx': "import { Text } from 'ink';\nexport const List = () => <Text>…</Text>;",
  'src/cloud/contract/routes.ts': 'export const ROUTES = {};',
  'hub/serve.ts': "import { ROUTES } from '../src/cloud/contract/routes.ts';\nexport const serve = ROUTES;",
  'src/commands/hub/serve.ts': "export const serve = () => import('../../../hub/serve.ts');",
  'screens/tables/tables-screen.tsx':
    "import { text } from '../../src/presentation/load.ts';\nexport const tablesScreen = { text };",
  'screens/tables/tables-route.ts': "export const tablesRoute = { screen: 'tables' };",
  'screens/app/screens.ts':
    "import { tablesScreen } from '../tables/tables-screen.tsx';\nexport const SCREENS = [tablesScreen];",
  'screens/start.tsx':
    "import { List } from '../components/list.tsx';\nimport { load } from '../src/operations/load.ts';\nexport const start = [List, load];",
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-imports-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, content] of Object.entries(house)) write(path, content);
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, content: string) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function violations(): string[] {
  const words = [
    '--config',
    join(root, '.ci/import-directions.mjs'),
    '--output-type',
    'json',
    'src',
    'hub',
    'components',
    'screens',
  ];
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/depcruise'), words, { cwd: folder, encoding: 'utf8' });
  const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } };
  return summary.violations.map(({ rule }) => rule.name);
}

test('imports along the arrows pass', () => {
  expect(violations()).toEqual([]);
});

test.each([
  ['errors-import-their-codes', 'src/runtime/errors.ts', "import 'node:fs';"],
  [
    'base-imports-only-base',
    'src/runtime/events.ts',
    "import type { engine } from '../engines/engine.ts';\nexport type E = typeof engine;",
  ],
  ['process-is-below-the-parts', 'src/process/docker.ts', "import '../engines/engine.ts';"],
  [
    'parts-are-below-operations',
    'src/engines/dump.ts',
    "import type { load } from '../operations/load.ts';\nexport type L = typeof load;",
  ],
  ['operations-are-below-the-skins', 'src/operations/undo.ts', "import '../commands/load.ts';"],
  ['operations-have-their-words-in-text', 'src/operations/undo.ts', "import '../presentation/load.ts';"],
  ['presentation-is-below-the-skins', 'src/presentation/undo.ts', "import '../commands/load.ts';"],
  ['presentation-starts-no-work', 'src/presentation/undo.ts', "import '../operations/load.ts';"],
  ['commands-load-their-work-when-they-run', 'src/commands/undo.ts', "import '../presentation/load.ts';"],
  [
    'the-core-has-never-heard-of-a-terminal',
    'src/presentation/plain.ts',
    "import { render } from 'ink';\nexport const draw = render;",
  ],
  ['the-core-has-never-heard-of-a-terminal', 'src/state/run.ts', "import '../../components/list.tsx';"],
  ['only-main-starts-the-screens', 'src/commands/demo.ts', "export const screens = import('../../screens/start.tsx');"],
  ['main-starts-the-screens-lazily', 'src/main.ts', "import '../screens/start.tsx';"],
  ['screens-and-commands-act-through-operations', 'screens/targets.tsx', "import '../src/engines/engine.ts';"],
  ['screens-are-not-the-command-line', 'screens/targets.tsx', "import '../src/commands/load.ts';"],
  ['screens-open-each-other-by-route', 'screens/targets/keys.ts', "import '../tables/tables-screen.tsx';"],
  ['screens-share-commands', 'screens/targets/keys.ts', "import '../tables/tables-route.ts';"],
  ['components-know-nothing-of-databases', 'components/table.tsx', "import '../src/operations/load.ts';"],
  [
    'only-the-runners-start-programs',
    'src/engines/dump.ts',
    "import { spawn } from 'node:child_process';\nexport const run = spawn;",
  ],
  [
    'only-the-runners-start-programs',
    'src/engines/dump.ts',
    "export async function dump() {\n  await using session = (await import('node:child_process')) as never;\n  return session;\n}",
  ],
  [
    'heavy-packages-are-loaded-where-they-are-used',
    'src/repository/s3.ts',
    "import { S3Client } from '@aws-sdk/client-s3';\nexport const client = new S3Client();",
  ],
  ['commands-load-their-work-when-they-run', 'src/commands/undo.ts', "import '../operations/load.ts';"],
  ['the-hub-imports-contract-and-repository', 'hub/http/app.ts', "import '../../src/operations/load.ts';"],
  ['only-its-commands-start-the-hub', 'src/operations/hub.ts', "export const hub = import('../../hub/serve.ts');"],
  ['commands-start-the-hub-lazily', 'src/commands/hub/other.ts', "import '../../../hub/serve.ts';"],
  [
    'only-two-places-import-the-driver',
    'hub/routes/targets.ts',
    "import { sql } from 'kysely';\nexport const query = sql;",
  ],
  ['no-circles', 'src/process/local.ts', "import './docker.ts';"],
  ['every-import-resolves', 'src/engines/dump.ts', "import './nowhere.ts';"],
])('%s: reported in %s', (rule, path, content) => {
  if (rule === 'no-circles') write('src/process/docker.ts', "import './local.ts';");
  write(path, content);
  expect(violations()).toContain(rule);
});
