import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { configFolder, withKey } from '../helpers/terminal/config-folder.ts';
import { openTerminal } from './terminal.ts';

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
    environment: { TOOL_TRUST: 'true', HOME: folder.path },
  });
  onTestFinished(() => terminal.close());
  const file = () => readFile(join(folder.path, 'tool.yml'), 'utf8');
  await terminal.waitFor('The shop');
  terminal.press('e');
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
  expect(await terminal.exited()).toMatchObject({ exitCode: 0 });
});

describeWithPostgres('the editor on a real server', () => {
  it('offers the tables that the source has, and writes the chosen one into the list', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    await server.createDatabase('shop');
    const sql = 'CREATE SCHEMA sales; CREATE TABLE sales.orders (id integer); CREATE TABLE customer (id integer)';
    await server.psql('shop', { sql });
    const lines = [
      'targets:',
      '  app: # the shop',
      '    subset:',
      `      src_url: ${server.url('shop')}`,
      '      copy_tables: [public.customer] # whole',
    ];
    const folder = await configFolder({ 'tool.yml': withKey(`${lines.join('\n')}\n`) });
    const terminal = openTerminal({
      command: [process.execPath, PROGRAM],
      cwd: folder.path,
      environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: folder.path },
      columns: 60,
      rows: 20,
    });
    onTestFinished(() => terminal.close());
    await terminal.waitFor('1 target');
    terminal.press('e');
    await terminal.waitFor('❯ general');
    terminal.press('G', ' ');
    await terminal.waitFor(/❯ +- app/);
    terminal.press(...Array(10).fill('down'));
    await terminal.waitFor(/❯ +copy_tables/);
    terminal.press('n');
    await terminal.waitFor(/New item:[ │]*\n.*1 name.*\n[ │]+sales\.orders/);
    terminal.press('down');
    await terminal.waitFor('❯ sales.orders');
    terminal.press('enter');
    await terminal.waitFor('1 change not saved');
    terminal.press('w');
    await terminal.waitFor('+       copy_tables: [public.customer, sales.orders]');
    terminal.press('enter');
    await terminal.waitFor('Saved ');
    expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toContain('[public.customer, sales.orders] # whole');
  });
});
