import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { urlTarget } from '../../src/config/urls/url-target.ts';
import { startAnyServer, testedKinds } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

/** Runs the program of a new user: an empty home, an empty folder. */
async function tool(home: string, words: string[]) {
  const cwd = join(home, 'project');
  await mkdir(cwd, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home };
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { exit: null as number | null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (ended.stdout += chunk));
  child.stderr.on('data', (chunk) => (ended.stderr += chunk));
  return new Promise<typeof ended>((resolve) => child.on('close', (exit) => resolve({ ...ended, exit })));
}

for (const kind of testedKinds('mariadb')) {
  describeWithKind(kind, 'two URLs in place of a configuration', () => {
    const server = suiteResource(() => startAnyServer(kind));
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      await server.create('shop');
      await server.run('shop', [
        'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20))',
        "INSERT INTO item VALUES (1, 'one'), (2, 'two')",
      ]);
    });

    afterAll(async () => {
      await folder?.[Symbol.asyncDispose]();
    });

    it('load builds a snapshot of the source and restores it, and the saved target has both', async () => {
      const home = join(folder.path, 'new-user');
      const urls = ['--from', server.url('shop'), '--to', server.url('shop_dev')];
      const loaded = await tool(home, ['load', ...urls, '--yes']);
      expect(loaded).toMatchObject({ exit: 0 });
      expect(loaded.stdout).toContain('tool config save-target --from URL --to URL');
      expect(await server.column('shop_dev', 'SELECT name FROM item ORDER BY id')).toEqual(['one', 'two']);

      const { name } = urlTarget({ from: server.url('shop') }, {});
      const saved = await tool(home, ['config', 'save-target', ...urls, '--json']);
      expect(JSON.parse(saved.stdout)).toEqual({ target: name, file: join(home, '.config/tool/tool.yml') });
      const password = new URL(server.url('shop')).password;
      for (const text of [await readFile(join(home, '.config/tool/tool.yml'), 'utf8'), loaded.stdout, loaded.stderr]) {
        expect(password === '' || !text.includes(password)).toBe(true);
      }
      await server.run('shop_dev', ['DELETE FROM item']);
      const again = await tool(home, ['load', name, '--yes']);
      expect(again).toMatchObject({ exit: 0 });
      expect(again.stdout).not.toContain('save-target');
      const flagged = await tool(home, ['load', ...urls, '--yes']);
      expect(flagged).toMatchObject({ exit: 2, stdout: '' });
      expect(flagged.stderr).toContain(`Target "${name}" of --from is configured`);
      expect(await server.column('shop_dev', 'SELECT count(*) FROM item')).toEqual(['2']);
      expect((await tool(home, ['undo', name, '--yes'])).exit).toBe(0);
      expect(await server.column('shop_dev', 'SELECT count(*) FROM item')).toEqual(['0']);
    });

    it('load refuses the source as destination before it builds', async () => {
      const home = join(folder.path, 'careless-user');
      const url = server.url('shop');
      const refused = await tool(home, ['load', '--from', url, '--to', url, '--yes']);
      expect(refused).toMatchObject({ exit: 5, stdout: '' });
      expect(refused.stderr).toContain('nothing is loaded into a source');
      expect(refused.stderr).not.toContain('Stored snapshot');
    });

    it('load does not use the configuration of a cloned repository that nobody has trusted', async () => {
      const home = join(folder.path, 'user-of-a-clone');
      await mkdir(join(home, 'project'), { recursive: true });
      const file = join(home, 'project/tool.yml');
      await writeFile(file, `trusted_keys: []\ndefaults: { cpus: 1 }\n`);
      const urls = ['--from', server.url('shop'), '--to', server.url('shop_clone')];
      const refused = await tool(home, ['load', ...urls, '--yes']);
      expect(refused).toMatchObject({ exit: 5, stdout: '' });
      expect(refused.stderr).toContain(file);
      expect(refused.stderr).not.toContain('Stored snapshot');
    });

    it('load without a terminal and without --yes is refused before it builds', async () => {
      const home = join(folder.path, 'script');
      const refused = await tool(home, ['load', '--from', server.url('shop'), '--to', server.url('shop_script')]);
      expect(refused).toMatchObject({ exit: 5, stdout: '' });
      expect(refused.stderr).toContain('Cannot prompt: not a terminal.');
      expect(refused.stderr).not.toContain('Stored snapshot');
    });

    it('load without --to names the database of the environment files', async () => {
      const home = join(folder.path, 'developer');
      await mkdir(join(home, 'project'), { recursive: true });
      await writeFile(join(home, 'project/.env'), 'DATABASE_URL=postgres://me:hidden@localhost/shop_mine\n');
      const refused = await tool(home, ['load', '--from', server.url('shop')]);
      expect(refused).toMatchObject({ exit: 3, stdout: '' });
      expect(refused.stderr).toContain('--to URL. DATABASE_URL of .env is postgres://me:***@localhost/shop_mine.');
    });

    it('build of one URL stores a snapshot of a target that is named after the database', async () => {
      const home = join(folder.path, 'builder');
      const built = await tool(home, ['build', `--from=${server.url('shop')}`]);
      expect(built).toMatchObject({ exit: 0 });
      const listed = await tool(home, ['target', '--json', '--from', server.url('shop')]);
      expect(JSON.parse(listed.stdout).snapshots).toHaveLength(1);
    });
  });
}

it('save-target adds to the file of the user, and needs its key for a password', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, '.config/tool/tool.yml');
  await mkdir(join(folder.path, '.config/tool'), { recursive: true });
  await writeFile(file, '# mine\ntargets:\n  other:\n    share: {}\n', { mode: 0o600 });
  const withPassword = await tool(folder.path, ['config', 'save-target', '--from', 'postgres://app:hidden@db/shop']);
  expect(withPassword).toMatchObject({ exit: 3 });
  expect(withPassword.stderr).toContain('The configuration has no secret_key to encrypt with');
  const saved = await tool(folder.path, ['config', 'save-target', '--from', 'postgres://app@db/shop']);
  expect(saved).toMatchObject({ exit: 0, stdout: expect.stringContaining('Saved target "shop-db"') });
  expect(await readFile(file, 'utf8')).toBe(
    '# mine\ntargets:\n  other:\n    share: {}\n  shop-db:\n    snapshot:\n      src_url: postgres://app@db/shop\n',
  );
});

it.each([
  ['postgres://app@db.example.com:5432/shop', 'shop-db.example.com'],
  ['postgres://app@localhost:5433/shop', 'shop-localhost-5433'],
  ['postgres:///shop', 'shop-localhost'],
  ['mysql://app@localhost/shop', 'shop-localhost-3306'],
  ['mysql://app@localhost:3307/shop', 'shop-localhost-3307'],
  ['postgres://app@db/big-shop', expect.stringMatching(/^big-shop-db-[0-9a-f]{8}$/)],
  ['postgres://app@[::1]:5432/shop', expect.stringMatching(/^shop-[-1]+-[0-9a-f]{8}$/)],
  [`postgres://app@db/${'x'.repeat(80)}`, expect.stringMatching(/^x{55}-[0-9a-f]{8}$/)],
  ['postgres://app@/shop?port=6611', expect.stringMatching(/^shop-localhost-[0-9a-f]{8}$/)],
  ['postgres://app@db/%2e%2e%2fetc', expect.stringMatching(/^etc-db-[0-9a-f]{8}$/)],
  ['postgres:///shop', expect.stringMatching(/^shop-localhost-[0-9a-f]{8}$/), { PGPORT: '6611' }],
])('%s names the target %s', (from, name, environment: NodeJS.ProcessEnv = {}) => {
  expect(urlTarget({ from }, environment).name).toEqual(name);
});

it.each([
  [['load', '--to', 'postgres://db/shop'], '--to requires --from'],
  [['load', '--from', 'shop'], '--from must be a connection URL'],
  [['load', '--from', 'postgres://db/shop', '--to', 'shop'], '--to must be a connection URL'],
  [['--from', 'postgres://db/shop'], '--from requires a command'],
  [['config', 'save-target'], 'config save-target requires --from'],
])('%j is refused as wrong usage', async (words, message) => {
  await using folder = await temporaryFolder();
  const refused = await tool(folder.path, words);
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain(message);
});

it.each([
  {
    words: ['load', '--from', 'postgres://127.0.0.1:1/shop', '--to', 'mysql://app@127.0.0.1:1/shop', '--yes'],
    hint: 'Correct --from or --to, or create a configuration: tool config init',
  },
  {
    words: ['build', '--from', 'mysql://app@127.0.0.1:1/shop'],
    hint: 'Check that the server is running, and the host, the port and the VPN. Then try again.',
  },
])('a hint of $words names no command that needs a configuration', async ({ words, hint }) => {
  await using folder = await temporaryFolder();
  const { exit, stderr } = await tool(folder.path, words);
  expect(exit).toBeGreaterThan(2);
  expect(stderr.split('\n').at(-2)).toBe(`  hint: ${hint}`);
});
