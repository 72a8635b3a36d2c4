import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { configFolder, withKey } from '../helpers/config-folder.ts';
import { openTerminal } from './terminal.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/tool.js', import.meta.url));

const FILE = withKey(`# ours
working_directory: '/tmp/work'   # here

targets:
  app: # the shop
    name: &n "The shop"
    snapshot: { src_url: "postgres://localhost:1/app" }
    sso_groups: [ *n, dev ]
# the end`);

beforeAll(() => build());

it('a value is changed and saved by keys alone, and every other byte of the file is the same', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const terminal = openTerminal({
    command: [process.execPath, PROGRAM],
    cwd: folder.path,
    environment: { HOME: folder.path },
  });
  onTestFinished(() => terminal.close());
  const file = () => readFile(join(folder.path, 'tool.yml'), 'utf8');
  await terminal.waitFor('The shop');
  terminal.press('E');
  await terminal.waitFor('❯ general');
  terminal.press('enter');
  await terminal.waitFor('❯ secret_key');
  terminal.press('down', 'down', 'enter');
  await terminal.waitFor('working_directory: /tmp/work');
  terminal.press(...'/longer');
  await terminal.waitFor('working_directory: /tmp/work/longer');
  terminal.press('enter');
  await terminal.waitFor('1 change not saved');
  terminal.press('w');
  await terminal.waitFor("+ working_directory: '/tmp/work/longer'");
  expect(await file()).toBe(FILE);
  terminal.press('enter');
  await terminal.waitFor('Saved ');
  expect(await file()).toBe(FILE.replace('/tmp/work', '/tmp/work/longer'));
  terminal.press('esc');
  await terminal.waitFor('❯ general');
  terminal.press('esc');
  await terminal.waitFor('quit');
  terminal.press('q');
  expect(await terminal.exited).toMatchObject({ exitCode: 0 });
});
