import { readdirSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { runWith } from '../helpers/terminal/cli-host.ts';
import { configFolder } from '../helpers/terminal/config-folder.ts';

/** Broken configurations, each beside what `tool config check --offline` says of it. */
const FOLDER = new URL('broken/', import.meta.url).pathname;
const NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yml'))
  .map((file) => file.replace(/\.yml$/, ''));

/** What some of them need around them. */
const SURROUNDINGS: Record<string, { mode?: number; environment?: NodeJS.ProcessEnv }> = {
  'readable-by-others': { mode: 0o644 },
  variables: {
    environment: {
      TOOL_DEFAULTS__CPUS: 'four',
      TOOL_TARGETS__MY_APP__CPUS: '2',
      TOOL_AUTHTOKN: 'hunter2hunter2',
      TOOL_DEBUG: '__proto__',
      TOOL_OVERRIDE__DST_DB_URL: 'db://u:hunter2hunter2@h/d',
    },
  },
};

const AWS_CONFIG = '[profile work]\nrole_arn = arn:aws:iam::1:role/work\nsource_profile = base\n';

test.for(NAMES)('config check says of broken/%s.yml exactly what is beside it', async (name) => {
  const { mode = 0o600, environment = {} } = SURROUNDINGS[name] ?? {};
  const content = await readFile(join(FOLDER, `${name}.yml`));
  const folder = await configFolder({ 'tool.yml': content, '.aws/config': AWS_CONFIG });
  await chmod(join(folder.path, 'tool.yml'), mode);
  const { exit, stdout, stderr } = await runWith(['config', 'check', '--offline', '--no-tui'], COMMANDS, {
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path, ...environment },
  });
  expect(stderr).toBe('');
  expect(exit).toBe(stdout.includes('error: ') ? 3 : 0);
  expect(stdout).not.toMatch(/hunter2|0123456789abcdef0123|^ +at .*\.ts:/m);
  await expect(independent(stdout, folder.path)).toMatchFileSnapshot(join(FOLDER, `${name}.expected`));
});

test('there are some sixty of them', () => {
  expect(NAMES.length).toBeGreaterThanOrEqual(60);
});

/** Without what differs from machine to machine: the folder, and which programs, servers and keychains there are. */
function independent(output: string, folder: string): string {
  return output.replaceAll(folder, '').replace(/(?<=^|\n\n)(?:Engines|Docker|Sanitizing|Keychain)\n(?: .*\n)+\n/g, '');
}
