import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { applyBranchPrune, planBranchPrune } from '../../../src/operations/branch/prune/prune.ts';
import { applyLink, planLink } from '../../../src/operations/link/link.ts';
import { applyUnlink, planUnlink } from '../../../src/operations/link/unlink.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { createRepository } from '../../helpers/linked-repository.ts';
import { PROGRAM } from '../../helpers/program.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithKind('postgres', 'tool link in other layouts of a repository', () => {
  const server = suiteResource(() => startAnyServer('postgres'));
  const repository = suiteResource(() => createRepository(server));

  const path = (name: string): string => repository.path(name);
  const inTree = (cwd: string): Context => ({ ...repository.contextWith(), cwd });

  function git(...words: string[]) {
    const found = spawnSync('git', ['-c', 'protocol.file.allow=always', ...words], {
      encoding: 'utf8',
      env: repository.env,
    });
    expect(found.status, found.stderr).toBe(0);
    return found;
  }

  function tool(cwd: string, words: string[], more: NodeJS.ProcessEnv = {}) {
    const env = { ...repository.env, ...more };
    return spawnSync(process.execPath, [PROGRAM, ...words], { encoding: 'utf8', cwd, env });
  }

  it.each([
    ['beside its trees', 'a b/shop.git', 'a b/first ünï', 'a b/second'],
    ['in a folder of its trees', 'c/.bare', 'c/first', 'c/second'],
    ['as .git of its trees', 'd/.git', 'd/first', 'd/trees/second'],
  ])(
    'a bare repository %s: the tree of the link keeps its database, others get their own',
    async (_, bare, ...trees) => {
      const [first = '', second = ''] = trees.map(path);
      git('clone', '--quiet', '--bare', path('main'), path(bare));
      if (bare.endsWith('.bare')) await writeFile(path('c/.git'), 'gitdir: ./.bare\n');
      git('-C', path(bare), 'worktree', 'add', '--quiet', first, 'main');
      for (const name of ['tool.yml', '.env.local']) await copyFile(path(`main/${name}`), join(first, name));
      const planned = await planLink(inTree(first), { target: 'shop' });
      expect(planned.plan).toMatchObject({ folder: first, hook: { file: path(`${bare}/hooks/post-checkout`) } });
      await applyLink(inTree(first), planned);

      const added = git('-C', path(bare), 'worktree', 'add', '--quiet', second, '-b', 'second');
      expect(added.stderr).toContain('.env.local has the database of new branch second');
      expect(await readFile(join(second, '.env.local'), 'utf8')).toContain('/shop_dev_second?');
      expect(await repository.rowsIn('shop_dev_second')).toBe(1);
      expect(git('-C', first, 'checkout', '--quiet', '-b', 'elsewhere').stderr).toContain('keeps its database');
      expect(await readFile(join(first, '.env.local'), 'utf8')).toBe(repository.environment());
      expect(git('-C', second, 'checkout', '--quiet', '-b', 'more').stderr).toContain('unchanged');
      // Moved trees keep theirs.
      git('-C', path(bare), 'worktree', 'move', second, `${second}-moved`);
      const prune = async () => applyBranchPrune(inTree(first), await planBranchPrune(inTree(first), {}));
      expect((await prune()).dropped).toEqual([]);
      git('-C', path(bare), 'worktree', 'remove', '--force', `${second}-moved`);
      expect((await prune()).dropped).toMatchObject([{ database: 'shop_dev_second' }]);

      git('-C', path(bare), 'worktree', 'add', '--quiet', second, '-b', 'third');
      await applyUnlink(inTree(second), await planUnlink(inTree(second), {}));
      for (const gone of [`${bare}/hooks/post-checkout`, `${bare}/tool`])
        await expect(stat(path(gone))).rejects.toThrow();
      await expect(stat(join(second, '.env.local'))).rejects.toThrow();
      git('-C', path(bare), 'worktree', 'remove', '--force', second);
      await server.drop('shop_dev_second');
    },
  );

  it('a bare repository whose linked tree is gone is unlinked in another tree', async () => {
    git('clone', '--quiet', '--bare', path('main'), path('gone.git'));
    for (const name of ['left', 'right'])
      git('-C', path('gone.git'), 'worktree', 'add', '--quiet', path(name), '-b', name);
    await copyFile(path('main/.env.local'), path('left/.env.local'));
    await applyLink(inTree(path('left')), await planLink(inTree(path('left')), { target: 'shop' }));
    git('-C', path('gone.git'), 'worktree', 'remove', '--force', path('left'));
    const lost = tool(path('right'), ['branch', 'checkout', 'shop', '--config', path('main/tool.yml'), '--yes']);
    expect(lost.stderr).toContain(`DATABASE_URL of ${path('left/.env.local')} is missing`);
    await applyUnlink(inTree(path('right')), await planUnlink(inTree(path('right')), {}));
    await expect(stat(path('gone.git/hooks/post-checkout'))).rejects.toThrow();
  });

  it('refuses a submodule and its trees, and names the main tree to others', async () => {
    git('init', '--quiet', path('super'));
    git('-C', path('super'), 'submodule', '--quiet', 'add', path('main'), 'sub');
    git('-C', path('super/sub'), 'worktree', 'add', '--quiet', path('of-sub'), '-b', 'of-sub');
    const refused = (message: string, hint: string) => ({
      ...{ code: 'link_refused', message: expect.stringContaining(message), hint: expect.stringContaining(hint) },
    });
    for (const tree of ['super/sub', 'of-sub']) {
      await expect(planLink(inTree(path(tree)), { target: 'shop' })).rejects.toMatchObject(
        refused(`${path(tree)} has its git folder elsewhere (a submodule`, 'Clone the repository by itself'),
      );
    }
    git('-C', path('main'), 'worktree', 'add', '--quiet', path('side'), '-b', 'side');
    await expect(planLink(inTree(path('side')), { target: 'shop' })).rejects.toMatchObject(
      refused(`${path('side')} is not the main working tree`, `cd ${path('main')}`),
    );
    git('-C', path('main'), 'worktree', 'remove', '--force', path('side'));
  });

  it('refuses GIT_DIR of another repository, and takes that of its own', async () => {
    await mkdir(path('other'));
    git('init', '--quiet', path('other'));
    const words = ['link', 'shop', '--dry-run', '--config', path('main/tool.yml')];
    const mixed = tool(path('other'), words, { GIT_DIR: path('main/.git') });
    expect(mixed.stderr).toContain(`GIT_DIR or GIT_WORK_TREE leads from ${path('other')} to another repository`);
    expect(mixed.status).toBe(5);
    const own = tool(path('main'), words, { GIT_DIR: path('main/.git') });
    expect([own.status, own.stdout]).toEqual([0, expect.stringContaining('Link the working trees')]);
    await rm(path('other'), { recursive: true });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'names a repository of another user, and how to see why git does not use it',
    async () => {
      git('clone', '--quiet', path('main'), path('theirs'));
      spawnSync('chown', ['-R', '65534:65534', path('theirs')]);
      const words = ['--config', path('main/tool.yml'), '--yes'];
      for (const command of [
        ['link', 'shop'],
        ['unlink'],
        ['branch', 'checkout', 'shop'],
        ['branch', 'hook', 'shop'],
      ]) {
        const { stderr, status } = tool(path('theirs'), [...command, ...words]);
        expect([command, status, stderr]).toEqual([
          command,
          1,
          expect.stringContaining(`git shows no working tree in ${path('theirs')}`),
        ]);
        expect(stderr).toContain(`git -C ${path('theirs')} rev-parse --show-toplevel`);
      }
    },
  );
});
