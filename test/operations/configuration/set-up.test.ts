import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load.ts';
import { ignoreInGit, wouldBeCommitted } from '../../../src/operations/configuration/git-ignore.ts';
import { applySetUp, planSetUp, type SetUp } from '../../../src/operations/configuration/set-up.ts';
import { asData } from '../../helpers/fakes/as-data.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'set-up-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SOURCE = 'postgres://app:hunter2@db:5432/shop';
const answers: SetUp = {
  file: 'tool.yml',
  target: 'shop',
  source: SOURCE,
  destination: 'postgres://localhost/shop_dev',
  schemaConfig: null,
  variables: null,
  storage: null,
};

const surroundings = (environment: NodeJS.ProcessEnv = {}) => ({
  environment: { HOME: folder, PATH: process.env.PATH, ...environment },
  cwd: folder,
});

test('the written configuration is in force, with encrypted password, readable by its owner only', async () => {
  const plan = await planSetUp(surroundings(), { ...answers, schemaConfig: { include_schemas: ['public', 'sales'] } });
  const { file } = await applySetUp(surroundings(), asData(plan));
  expect(file).toBe(join(folder, 'tool.yml'));
  expect(readFileSync(file, 'utf8')).toBe(plan.text);
  expect(plan.text).not.toContain('hunter2');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { settings } = await loadConfiguration(surroundings());
  expect(settings.targets.shop?.snapshot).toEqual({
    src_url: SOURCE,
    dst_url: answers.destination,
    schema_config: { include_schemas: ['public', 'sales'] },
  });
});

test('the preview equals the written file, except for secrets, and has no example target', async () => {
  const { text, shown } = await planSetUp(surroundings(), answers);
  expect(shown).toMatch(/src_url: postgres:\/\/app:\$aes\$[0-9a-f]{4}…@db:5432\/shop/);
  expect(shown).toContain('secret_key: "…"');
  expect(shown).not.toMatch(/hunter2|# targets:/);
  expect(shown.split('\n').length).toBe(text.split('\n').length);
});

test('the file has eight lines: what was answered, and no defaults', async () => {
  const { shown } = await planSetUp(surroundings(), answers);
  expect(
    shown
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(':')[0]),
  ).toEqual([
    '# yaml-language-server',
    '# All keys',
    'secret_key',
    'targets',
    'shop',
    'snapshot',
    'src_url',
    'dst_url',
  ]);
});

test('a password may be in an environment variable, which the file names', async () => {
  const variables = { source: 'SHOP_PASSWORD', destination: 'SHOP_DEV_PASSWORD' };
  const destination = 'postgres://app:p%40ss@localhost/shop_dev';
  const plan = await planSetUp(surroundings(), { ...answers, destination, variables });
  expect(plan.shown).toContain('app:{{`SHOP_PASSWORD` | env}}@db:5432/shop');
  expect(plan.text).not.toMatch(/hunter2|p%40ss|\$aes\$/);
  expect(plan.variables).toEqual({ SHOP_PASSWORD: 'hunter2', SHOP_DEV_PASSWORD: 'p%40ss' });
  await applySetUp(surroundings(), plan);
  const { settings } = await loadConfiguration(surroundings(plan.variables));
  expect(settings.targets.shop?.snapshot).toEqual({ src_url: SOURCE, dst_url: destination });
});

test("a bucket's keys are encrypted, and the target is kept there", async () => {
  const storage = { provider: 'minio', bucket: 'b', endpoint: 'http://m', access_key: 'AK', secret_key: 'SK' } as const;
  const plan = await planSetUp(surroundings(), { ...answers, storage });
  expect(plan.text).not.toMatch(/: (AK|SK)$/m);
  await applySetUp(surroundings(), plan);
  const { settings } = await loadConfiguration(surroundings());
  expect(settings.storage_profiles.main).toEqual(storage);
  expect(settings.targets.shop?.storage_profile).toBe('main');
});

test('a file that is there is neither planned over nor written over', async () => {
  const plan = await planSetUp(surroundings(), answers);
  writeFileSync(join(folder, 'tool.yml'), 'mine');
  const refused = { code: 'configuration_exists' };
  await expect(planSetUp(surroundings(), answers)).rejects.toMatchObject(refused);
  await expect(applySetUp(surroundings(), plan)).rejects.toMatchObject(refused);
  expect(readFileSync(join(folder, 'tool.yml'), 'utf8')).toBe('mine');
});

test('a name that the schema does not take is refused before anything is written', async () => {
  await expect(planSetUp(surroundings(), { ...answers, target: 'a/b' })).rejects.toMatchObject({ exit: 3 });
});

test('a file that git would commit is planned as such, and is in .gitignore before it is there', async () => {
  expect((await planSetUp(surroundings(), answers)).committed).toBe(false);
  const git = inGit(folder);
  git('init', '--quiet');
  writeFileSync(join(folder, '.gitignore'), 'node_modules');
  const plan = await planSetUp(surroundings(), { ...answers, inGit: 'ignore' });
  expect(plan.committed).toBe(true);
  await applySetUp(surroundings(), plan);
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('node_modules\n/tool.yml\n');
  expect(git('status', '--short', '--', 'tool.yml', '.gitignore')).toBe('?? .gitignore\n');
  expect((await planSetUp(surroundings(), { ...answers, file: 'other/deep.yml' })).committed).toBe(true);
});

test.each(['a b.yml', '#1 [x]*?.yml', '!tool.yml', ' x.yml ', '-q.yml'])(
  'git ignores %s by its line, and nothing else',
  async (name) => {
    const git = inGit(folder);
    git('init', '--quiet');
    await ignoreInGit(join(folder, name));
    writeFileSync(join(folder, name), '');
    writeFileSync(join(folder, 'other.yml'), '');
    expect(await wouldBeCommitted({}, join(folder, name))).toBe(false);
    expect(git('status', '--short')).toBe('?? .gitignore\n?? other.yml\n');
  },
);

test('a link in place of .gitignore is not written through, and nothing else is written', async () => {
  inGit(folder)('init', '--quiet');
  writeFileSync(join(folder, 'elsewhere'), 'x\n');
  symlinkSync('elsewhere', join(folder, '.gitignore'));
  const plan = await planSetUp(surroundings(), { ...answers, inGit: 'ignore' });
  await expect(applySetUp(surroundings(), plan)).rejects.toMatchObject({ code: 'file_not_written' });
  expect(readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('x\n');
  expect(existsSync(join(folder, 'tool.yml'))).toBe(false);
});

test('a pipe in place of .gitignore is refused at once', async () => {
  execFileSync('mkfifo', [join(folder, '.gitignore')]);
  await expect(ignoreInGit(join(folder, 'tool.yml'))).rejects.toMatchObject({ code: 'file_not_written' });
});

test('a secret_key for the keychain is not in the file, which is not written where no keychain takes it', async () => {
  const plan = await planSetUp(surroundings(), { ...answers, inGit: 'keychain' });
  expect(plan.text).toContain('secret_key: "keychain"');
  expect(plan.text).not.toContain(plan.secretKey);
  const bus = process.env.DBUS_SESSION_BUS_ADDRESS;
  process.env.DBUS_SESSION_BUS_ADDRESS = 'unix:path=/nowhere';
  try {
    await expect(applySetUp(surroundings(), plan)).rejects.toMatchObject({ code: 'keychain_unavailable' });
  } finally {
    if (bus === undefined) delete process.env.DBUS_SESSION_BUS_ADDRESS;
    else process.env.DBUS_SESSION_BUS_ADDRESS = bus;
  }
  expect(readdirSync(folder).filter((name) => name.startsWith('tool.yml'))).toEqual([]);
});

/** Without the settings of this machine. */
function inGit(cwd: string) {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' };
  return (...words: string[]): string => execFileSync('git', words, { cwd, env, encoding: 'utf8' });
}
