import { spawnSync } from 'node:child_process';
import { access, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { applyBranchCheckout, planBranchCheckout } from '../../src/operations/branch/checkout/checkout.ts';
import { startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { createRepository } from '../helpers/linked-repository.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const MAIN = `it's $(touch pwned) "main"`;

describeWithKind('postgres', 'working trees of commits by others', () => {
  const server = suiteResource(() => startAnyServer('postgres'));
  const repository = suiteResource(() => createRepository(server, { main: MAIN }));

  beforeAll(async () => {
    await server.create('crm');
    await repository.link();
  }, 60_000);

  const FAILED = /^The database was not switched\. To see why: (cd .* && tool branch checkout shop .* --tree '.*')\n$/;

  /** Makes a git branch with files, of which none is in the main tree afterwards. */
  async function commit(branch: string, fill: (folder: string) => Promise<unknown>): Promise<void> {
    const { git, path } = repository;
    git('main', 'worktree', 'add', '--quiet', '--no-checkout', path('author'), '-b', branch);
    await fill(path('author'));
    git('author', 'add', '--force', '.');
    git('author', 'commit', '--quiet', '-m', 'hostile');
    git('main', 'worktree', 'remove', '--force', path('author'));
  }

  async function refuses(branch: string): Promise<void> {
    const { git, path, branches, place, environment } = repository;
    const before = await branches();
    const { status, stderr } = git('main', 'worktree', 'add', '--quiet', path(branch), branch);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(FAILED) });
    expect(await branches()).toEqual(before);
    expect(await readFile(join(place('main'), '.env.local'), 'utf8')).toBe(environment());
  }

  it('write no file that git tracks, and none through a link', async () => {
    const { path } = repository;
    await writeFile(path('victim'), 'A=1\n');
    await commit('tracked', (folder) => writeFile(join(folder, '.env.local'), 'DATABASE_URL=postgres://evil/x\n'));
    await commit('linked', (folder) => symlink(path('victim'), join(folder, '.env.local')));
    await refuses('tracked');
    await refuses('linked');
    expect(await readFile(path('tracked/.env.local'), 'utf8')).toBe('DATABASE_URL=postgres://evil/x\n');
    expect(await readFile(path('victim'), 'utf8')).toBe('A=1\n');
  });

  it('are named by a command that shows why, which runs in the main tree', async () => {
    const { env, git, path } = repository;
    const name = `tracked 'b' $(touch pwned)`;
    const { stderr } = git('main', 'worktree', 'add', '--quiet', '-b', 'again', path(name), 'tracked');
    const command = FAILED.exec(stderr)?.[1] ?? '';
    await rm(path('errors'), { force: true });
    expect(spawnSync('sh', ['-c', `${command} --yes`], { cwd: path(name), env }).status).toBe(5);
    expect(await readFile(path('errors'), 'utf8')).toContain(`${path(name)}/.env.local is tracked by git`);
    await expect(access(path('pwned'))).rejects.toThrow();
  });

  it('choose no database and no command: neither by a configuration, nor by hooks', async () => {
    const { git, path, config, databaseOf } = repository;
    await commit('chosen', async (folder) => {
      await writeFile(join(folder, 'tool.yml'), config('crm', 'branches:\n  follow: off\n'));
      await mkdir(join(folder, 'hooks'));
      for (const file of ['hooks/post-checkout', 'tool']) {
        await writeFile(join(folder, file), `#!/bin/sh\ntouch ${path('pwned')}\n`, { mode: 0o755 });
      }
    });
    git('main', 'worktree', 'add', '--quiet', path('chosen'), 'chosen');
    expect(await databaseOf('chosen')).toBe('shop_dev_chosen');
    await expect(access(path('pwned'))).rejects.toThrow();
  });

  it('do not change the URL that trees get by a checkout in the main tree', async () => {
    const { git, place, environment, path } = repository;
    await commit('moved', (folder) => writeFile(join(folder, '.env.local'), environment('crm')));
    await rm(join(place('main'), '.env.local'));
    git('main', 'checkout', '--quiet', '--force', 'moved');
    expect(await readFile(join(place('main'), '.env.local'), 'utf8')).toBe(environment('crm'));
    const { stderr } = git('main', 'worktree', 'add', '--quiet', path('after'), '-b', 'after', 'main');
    expect(stderr).toMatch(FAILED);
    await expect(access(path('after/.env.local'))).rejects.toThrow();
    git('main', 'checkout', '--quiet', 'main');
    await writeFile(join(place('main'), '.env.local'), environment());
  });

  it('get databases of their own whatever the names of folders and branches are', async () => {
    const { git, path, databaseOf, rowsIn, branches } = repository;
    const long = 'long-'.repeat(30);
    const names = [`$(touch pwned)`, `a b"c'd;e`, `${long}1`, `${long}2`, 'ünï', '--env', '...x'];
    const databases = names.map(async (name, index) => {
      const branch = name.startsWith('$') ? '$(touch-pwned)' : `n/${index}`;
      expect(git('main', 'worktree', 'add', '--quiet', path(name), '-b', branch).status).toBe(0);
      const database = await databaseOf(name);
      expect(Buffer.byteLength(database)).toBeLessThanOrEqual(63);
      expect(await rowsIn(database)).toBe(1);
      return database;
    });
    expect(new Set(await Promise.all(databases)).size).toBe(names.length);
    expect((await branches()).filter(({ tree }) => tree !== null).length).toBeGreaterThanOrEqual(names.length);
    await expect(access(path('pwned'))).rejects.toThrow();
    await expect(access(join(repository.place('main'), 'pwned'))).rejects.toThrow();
  }, 30_000);

  it('are not linked by a damaged memory, or one that names another file', async () => {
    const { place, path, contextWith } = repository;
    const file = join(place('main'), '.git/tool/link.json');
    const text = await readFile(file, 'utf8');
    const plan = () => planBranchCheckout(contextWith(), { target: 'shop', tree: path('chosen') });
    for (const name of ['../x/.env', '/etc/.env', '.git/.env', 'config', '.env/../../.env']) {
      await writeFile(file, JSON.stringify({ ...JSON.parse(text), file: name }));
      await expect(plan()).rejects.toMatchObject({ code: 'link_damaged' });
    }
    await writeFile(path('elsewhere.json'), text);
    await rm(file);
    await symlink(path('elsewhere.json'), file);
    await expect(plan()).rejects.toMatchObject({ code: 'link_damaged' });
    await rm(file);
    await writeFile(file, text);
    expect((await plan()).plan).toMatchObject({ action: 'none', tree: { branch: 'chosen' } });
  });

  it('get their file back when it was lost', async () => {
    const { path, contextWith, databaseOf } = repository;
    await rm(path('chosen/.env.local'));
    const request = { target: 'shop', tree: path('chosen') };
    await applyBranchCheckout(contextWith(), await planBranchCheckout(contextWith(), request));
    expect(await databaseOf('chosen')).toBe('shop_dev_chosen');
  });
});
