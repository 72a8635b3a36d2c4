import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { EXIT } from '../../src/errors.ts';
import { runWith } from '../helpers/cli-host.ts';
import { configFolder } from '../helpers/config-folder.ts';

const FOLDER = new URL('broken/', import.meta.url).pathname;
const NAMES = (await readdir(FOLDER)).filter((name) => name.endsWith('.yml')).map((name) => name.slice(0, -4));

/** Beside each broken file is what `tool config check --offline` says of it, up to what it says of this machine. */
test.for(NAMES)('config check of %s.yml says what is in %s.txt', async (name) => {
  const folder = await configFolder({
    'tool.yml': await readFile(join(FOLDER, `${name}.yml`)),
    '.aws/config': '[default]\nregion = eu\n',
  });
  const { exit, stdout, stderr } = await runWith(['config', 'check', '--offline', '--no-tui'], COMMANDS, {
    cwd: folder.path,
    environment: { HOME: folder.path, PATH: process.env.PATH },
  });
  const [problems = '', machine = ''] = stdout.replaceAll(folder.path, '').split('Engines\n');
  const sum = machine.trimEnd().split('\n').at(-1);
  const said = `${problems}${sum}\n`;
  await expect(said).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
  expect(stderr).toBe('');
  expect(exit).toBe(said.includes('error: ') ? EXIT.configuration : EXIT.done);
  expect(stdout).not.toMatch(/\bat .*\.ts:\d/);
});

test('there are some sixty of them', () => {
  expect(NAMES.length).toBeGreaterThanOrEqual(60);
});
