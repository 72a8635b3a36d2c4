import { chmod, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applyQuerySave, planQuerySave } from '../../../src/operations/sanitize/save-query.ts';
import { type Context, createContext } from '../../../src/runtime/context.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { type ConfigFolder, configFolder, withKey } from '../../helpers/terminal/config-folder.ts';

const TARGET = `targets:
  app: # the shop
    snapshot:
      src_url: postgres://localhost/app
`;

async function contextOf(folder: ConfigFolder, environment: NodeJS.ProcessEnv = {}): Promise<Context> {
  return createContext({
    environment: { HOME: folder.path, TOOL_TRUST: 'true', ...environment },
    cwd: folder.path,
    report: () => {},
    signal: new AbortController().signal,
    clock: () => new Date(0),
  });
}

async function save(folder: ConfigFolder, query: string): Promise<void> {
  const planned = await planQuerySave(await contextOf(folder), { target: 'app', query });
  await applyQuerySave(await contextOf(folder), asData(planned));
}

test('a first query becomes a file of its owner beside the configuration, which names it; comments stay', async () => {
  const folder = await configFolder({ 'tool.yml': withKey(TARGET) });
  const planned = await planQuerySave(await contextOf(folder), { target: 'app', query: 'TRUNCATE login;' });
  expect(planned.plan).toEqual({
    target: 'app',
    file: join(folder.path, 'app.sanitize.sql'),
    exists: false,
    before: '',
    after: 'TRUNCATE login;\n',
    configuration: {
      file: join(folder.path, 'tool.yml'),
      key: 'targets.app.sanitize.query_file',
      value: './app.sanitize.sql',
    },
  });
  expect(await readdir(folder.path), 'a plan writes nothing').not.toContain('app.sanitize.sql');
  await applyQuerySave(await contextOf(folder), asData(planned));
  const file = join(folder.path, 'app.sanitize.sql');
  expect(await readFile(file, 'utf8')).toBe('TRUNCATE login;\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toContain('app: # the shop');
  expect((await contextOf(folder)).configuration.settings.targets.app?.sanitize?.query_file).toBe(file);
});

test('a file of that name that the configuration does not name is left alone', async () => {
  const folder = await configFolder({ 'tool.yml': withKey(TARGET), 'app.sanitize.sql': 'mine' });
  await save(folder, 'TRUNCATE login;');
  expect(await readFile(join(folder.path, 'app.sanitize.sql'), 'utf8')).toBe('mine');
  expect(await readFile(join(folder.path, 'app.sanitize-2.sql'), 'utf8')).toBe('TRUNCATE login;\n');
});

const WITH_FILE = withKey(`${TARGET}    sanitize:\n      query_file: ./own.sql\n`);

test('a query by hand is kept whole before the new statements; its mode and a link to it stay', async () => {
  const folder = await configFolder({ 'tool.yml': WITH_FILE, 'real.sql': '-- by hand\nTRUNCATE cart;\n' });
  await symlink('real.sql', join(folder.path, 'own.sql'));
  await chmod(join(folder.path, 'real.sql'), 0o640);
  await save(folder, 'TRUNCATE login;');
  expect(await readFile(join(folder.path, 'real.sql'), 'utf8')).toBe('-- by hand\nTRUNCATE cart;\n\nTRUNCATE login;\n');
  expect((await stat(join(folder.path, 'real.sql'))).mode & 0o777).toBe(0o640);
  expect((await readdir(folder.path)).sort()).toEqual(['own.sql', 'real.sql', 'tool.yml']);
});

test.for(['changed', 'created'])('a file that was %s since the plan is not replaced', async (how) => {
  const files = how === 'changed' ? { 'tool.yml': WITH_FILE, 'own.sql': 'SELECT 1;' } : { 'tool.yml': withKey(TARGET) };
  const folder = await configFolder(files as Record<string, string>);
  const planned = await planQuerySave(await contextOf(folder), { target: 'app', query: 'TRUNCATE login;' });
  const name = how === 'changed' ? 'own.sql' : 'app.sanitize.sql';
  await folder.write(name, 'SELECT 2;');
  await expect(applyQuerySave(await contextOf(folder), asData(planned))).rejects.toMatchObject({
    code: 'plan_outdated',
  });
  expect(await readFile(join(folder.path, name), 'utf8')).toBe('SELECT 2;');
});

test('a file whose key cannot be written is removed again', async () => {
  const folder = await configFolder({ 'tool.yml': withKey(TARGET) });
  const planned = await planQuerySave(await contextOf(folder), { target: 'app', query: 'TRUNCATE login;' });
  await folder.write('tool.yml', new Uint8Array([0xff, 0xfe, 0x00]));
  const context = { ...(await contextOf(await configFolder({ 'tool.yml': withKey(TARGET) }))) };
  await expect(applyQuerySave(context, asData(planned))).rejects.toMatchObject({ code: 'file_not_written' });
  expect(await readdir(folder.path)).toEqual(['tool.yml']);
});

test.for([
  ['targets.app.sanitize.override_query', {}, `${TARGET}    sanitize:\n      override_query: SELECT 1\n`],
  ['override.san_query', { TOOL_OVERRIDE__SAN_QUERY: 'SELECT 1' }, TARGET],
] as const)('the query is not saved where %s would override it', async ([key, environment, text]) => {
  const folder = await configFolder({ 'tool.yml': withKey(text) });
  const context = await contextOf(folder, environment);
  await expect(planQuerySave(context, { target: 'app', query: 'SELECT 2' })).rejects.toMatchObject({
    code: 'query_not_saved',
    message: expect.stringContaining(key),
  });
});
