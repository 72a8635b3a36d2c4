import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { applyBranchCheckout, planBranchCheckout } from '../../../src/operations/branch/checkout/checkout.ts';
import { applyBranchHook, type BranchHookRequest, planBranchHook } from '../../../src/operations/branch/hook/hook.ts';
import { branchHookQuestion } from '../../../src/operations/branch/hook/text.ts';
import { listBranches } from '../../../src/operations/branch/list/list.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { itIf } from '../../helpers/it-if.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../../helpers/program.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('branch hook and branch checkout', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.createDatabase('copy');
    await server.psql('source', { sql: 'CREATE TABLE person (id integer)' });
    await build(contextWith(), { target: 'app', push: false });
    await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true, undo: false }));
    await server.psql('copy', { sql: 'CREATE TABLE of_main (id integer)' });
    for (const name of ['bin', 'checkout', 'sub']) await mkdir(join(folder.path, name));
    git('init', '--quiet', '--initial-branch=main');
    await writeFile(path('checkout/file.txt'), '1');
    git('add', '.');
    git('commit', '--quiet', '-m', 'one');
    for (const name of ['one', 'two', 'release']) git('branch', name);
  }, 60_000);

  beforeEach(async () => {
    git('config', '--unset-all', 'core.hooksPath');
    await rm(hook(), { force: true });
    git('checkout', '--quiet', 'main');
    await fakeTool(`printf '%s\\n' "$*" >> ${path('calls')}; echo switched`);
    await writeFile(path('calls'), '');
  });

  const path = (name: string): string => join(folder.path, name);
  const hook = (): string => path('checkout/.git/hooks/post-checkout');
  const read = (): Promise<string> => readFile(hook(), 'latin1');

  function git(...words: string[]) {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
    const env = { ...process.env, TOOL_TRUST: 'true', PATH: `${path('bin')}:${process.env.PATH}` };
    return spawnSync('git', ['-C', path('checkout'), ...identity, ...words], { encoding: 'utf8', env });
  }
  async function fakeTool(script: string): Promise<void> {
    await writeFile(path('bin/tool'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const calls = async () => (await readFile(path('calls'), 'utf8')).split('\n').slice(0, -1);

  function contextWith(cwd = 'checkout'): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const settings = { working_directory: path('work'), targets: { app: { snapshot } }, defaults: { cpus: 1 } };
    return { ...testContext({ settings }), cwd: path(cwd) };
  }
  async function install(more: Partial<BranchHookRequest> = {}, context = contextWith()) {
    const planned = await planBranchHook(context, { target: 'app', ...more });
    await applyBranchHook(context, planned);
    return planned.plan;
  }
  async function follow(main?: string) {
    return applyBranchCheckout(contextWith(), await planBranchCheckout(contextWith(), { target: 'app', main }));
  }
  const shown = (database: string): string =>
    new URL(server.url(database)).href.replace(/:[^:@/]*@/, '@').replace(/\?.*/, '');
  const current = async () =>
    (await listBranches(contextWith(), { target: 'app' })).branches.find((branch) => branch.current)?.name ?? null;
  const isMain = async () => (await server.psql('copy', { sql: `SELECT to_regclass('of_main') IS NOT NULL` })).trim();

  it('creates a hook with exactly the lines of the question, once, and removes the file again', async () => {
    const plan = await install();
    expect(plan).toMatchObject({ action: 'create', file: hook(), warnings: [] });
    expect(await read()).toBe(plan.text);
    const asked = branchHookQuestion(plan).facts.map(({ value }) => value);
    for (const line of plan.text.split('\n').slice(0, -1)) expect(asked).toContain(line);
    expect((await stat(hook())).mode & 0o111).toBe(0o111);
    expect(await install()).toMatchObject({ action: 'none' });
    const replaced = await install({ main: "it's" });
    expect(replaced.action).toBe('replace');
    expect(git('checkout', 'one').stderr).toContain('switched\n');
    expect(await calls()).toEqual([`branch checkout app --main it's --only-destination ${shown('copy')} --yes`]);
    expect(await install({ remove: true })).toMatchObject({ action: 'delete' });
    await expect(stat(hook())).rejects.toThrow();
    expect(await install({ remove: true })).toMatchObject({ action: 'none' });
  });

  it.each([
    ['ends with a line feed and fails', '#!/bin/bash\necho mine \xff\n(exit 4)\n'],
    ['ends without one', '#!/usr/bin/env sh\necho mine'],
    ['ends with exit', '#!/bin/sh\necho mine\nexit 3\n'],
  ])('keeps a hook that %s, byte by byte, and its exit code', async (_, before) => {
    await writeFile(hook(), before, { encoding: 'latin1', mode: 0o750 });
    const own = git('checkout', 'one');
    expect(await install()).toMatchObject({ action: 'add' });
    const installed = git('checkout', 'two');
    expect(installed.status).toBe(own.status);
    expect(installed.stderr).toContain('mine');
    expect(await calls()).toHaveLength(1);
    expect((await stat(hook())).mode & 0o777).toBe(0o750);
    expect(await install({ main: 'release' })).toMatchObject({ action: 'replace' });
    expect(await install({ remove: true })).toMatchObject({ action: 'remove' });
    expect(await read()).toBe(before);
  });

  it('refuses a hook that is no shell script, not executable, or a link, and leaves it', async () => {
    const refused = async (content: string, mode: number) => {
      await writeFile(hook(), content, { mode });
      await chmod(hook(), mode);
      await expect(install()).rejects.toMatchObject({ code: 'hook_refused' });
      expect(await read()).toBe(content);
    };
    await refused('#!/usr/bin/env python3\nprint(1)\n', 0o755);
    await refused('\x7fELF', 0o755);
    await refused('#!/bin/sh\n', 0o644);
    await rm(hook());
    await writeFile(path('elsewhere'), '#!/bin/sh\n', { mode: 0o755 });
    await symlink(path('elsewhere'), hook());
    await expect(install()).rejects.toMatchObject({ code: 'hook_refused' });
    await expect(install({}, contextWith('sub'))).rejects.toMatchObject({ code: 'git_missing' });
    await rm(hook());
    const planned = await planBranchHook(contextWith(), { target: 'app' });
    await writeFile(hook(), '#!/bin/sh\n', { mode: 0o755 });
    await expect(applyBranchHook(contextWith(), planned)).rejects.toMatchObject({ code: 'plan_outdated' });
  });

  it('goes where core.hooksPath and worktrees lead, with a warning inside the working tree', async () => {
    git('config', 'core.hooksPath', '.husky');
    const plan = await install();
    expect(plan).toMatchObject({ file: path('checkout/.husky/post-checkout'), warnings: [{ code: 'hook_shared' }] });
    expect(await install({ remove: true })).toMatchObject({ action: 'delete' });
    git('config', '--unset-all', 'core.hooksPath');
    git('worktree', 'add', '--quiet', path('tree'), 'release');
    expect((await install({}, contextWith('tree'))).file).toBe(hook());
  });

  it('does nothing on the checkout of files, and never fails a checkout', async () => {
    await install();
    git('checkout', '--', 'file.txt');
    expect(await calls()).toEqual([]);
    await fakeTool('echo broken >&2; echo no; exit 1');
    const failed = git('checkout', 'one');
    expect(failed.status).toBe(0);
    expect(failed.stderr).toContain(
      'The database was not switched. To see why: tool branch checkout app --only-destination ',
    );
    expect(failed.stderr).not.toContain('broken');
    await rm(path('bin/tool'));
    expect(git('checkout', 'two').status).toBe(0);
  });

  it('switches only the destination of its installation, with copies of this program, and connects to no other', async () => {
    await server.createDatabase('foreign');
    const planWith = (dst_url: string, only: string) => {
      const snapshot = { src_url: server.url('source'), dst_url };
      const context = contextWith();
      context.configuration.settings.targets = { app: { snapshot } };
      return planBranchCheckout(context, { target: 'app', onlyDestination: only });
    };
    git('checkout', 'one');
    await expect(planWith(server.url('foreign'), shown('copy'))).rejects.toMatchObject({
      code: 'hook_destination_changed',
      exit: 5,
    });
    // Nothing listens there: no connection was tried.
    const elsewhere = 'postgres://someone@127.0.0.1:1/copy';
    await expect(planWith(elsewhere, shown('copy'))).rejects.toMatchObject({ code: 'hook_destination_changed' });
    await expect(planWith(server.url('foreign'), shown('foreign'))).rejects.toMatchObject({
      code: 'hook_destination_foreign',
      exit: 5,
    });
    expect((await planWith(server.url('copy'), shown('copy'))).plan.action).toBe('switch');
    const context = contextWith();
    context.configuration.settings.targets = {
      app: { snapshot: { src_url: server.url('source'), dst_url: server.url('foreign') } },
    };
    expect((await planBranchHook(context, { target: 'app' })).plan.warnings).toMatchObject([
      { code: 'hook_destination_foreign' },
    ]);
  });

  it('does not switch another database that a commit names, and never fails the checkout', async () => {
    await server.createDatabase('crm');
    await server.psql('crm', { sql: 'CREATE TABLE client (id integer)' });
    const config = (database: string) =>
      `secret_key: abcdef0123456789abcdef0123456789\nworking_directory: ${path('work')}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url(database)}\n`;
    git('checkout', '--quiet', '-b', 'hostile');
    await writeFile(path('checkout/tool.yml'), config('crm'));
    git('add', 'tool.yml');
    git('commit', '--quiet', '-m', 'another destination');
    git('checkout', '--quiet', 'main');
    await fakeTool(`exec ${process.execPath} ${PROGRAM} "$@"`);
    await install();
    const { status, stderr } = git('checkout', '--quiet', 'hostile');
    expect(status).toBe(0);
    expect(stderr).toMatch(/^The database was not switched\. To see why: .*\n$/);
    expect(await server.psql('crm', { sql: "SELECT to_regclass('client') IS NOT NULL" })).toContain('t');
    git('checkout', '--quiet', 'main');
    git('branch', '-D', 'hostile');
  });

  it('does not use a configuration with another content that a commit has', async () => {
    await mkdir(path('checkout/api'), { recursive: true });
    const file = path('checkout/api/tool.yml');
    await writeFile(file, 'one\n');
    git('add', 'api');
    git('commit', '--quiet', '-m', 'a configuration');
    await install({ config: file });
    git('checkout', '--quiet', '-b', 'same');
    expect(await calls()).toHaveLength(1);
    await writeFile(file, 'two\n');
    git('commit', '--quiet', '-am', 'another configuration');
    git('checkout', '--quiet', 'main');
    expect(await calls()).toHaveLength(2);
    const { status, stderr } = git('checkout', '--quiet', 'same');
    expect([status, await calls()]).toEqual([0, expect.objectContaining({ length: 2 })]);
    expect(stderr).toContain('The database was not switched.');
    git('checkout', '--quiet', 'main');
    git('branch', '-D', 'same');
    git('reset', '--quiet', '--hard', 'HEAD~1');
  });

  it('follows the git branch: creates, switches, and restores the first database on the main branch', async () => {
    git('checkout', 'one');
    expect(await follow()).toMatchObject({ action: 'switch', git_branch: 'one', created: true });
    expect([await current(), await isMain()]).toEqual(['one', 'f']);
    expect(await follow()).toMatchObject({ action: 'none' });
    git('checkout', 'two');
    expect(await follow()).toMatchObject({ action: 'switch', created: true });
    git('checkout', 'one');
    expect(await follow()).toMatchObject({ action: 'switch', created: false });
    expect(await current()).toBe('one');
    git('checkout', '--detach');
    expect(await follow()).toMatchObject({ action: 'none', why: 'no git branch is checked out' });
    git('checkout', 'two');
    await mkdir(path('checkout/.git/rebase-merge'));
    expect(await follow()).toMatchObject({ action: 'none', why: 'a rebase is in progress' });
    await rm(path('checkout/.git/rebase-merge'), { recursive: true });
    git('checkout', 'main');
    expect(await follow()).toMatchObject({ action: 'restore' });
    expect([await current(), await isMain()]).toEqual([null, 't']);
    expect(await follow('main')).toMatchObject({ action: 'none' });
  });

  itIf(process.env.TEST_FULL)('runs tool by name, which prints one line', async () => {
    const config = `secret_key: abcdef0123456789abcdef0123456789\nworking_directory: ${path('work')}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('copy')}\n`;
    await writeFile(path('checkout/tool.yml'), config);
    await fakeTool(`exec ${process.execPath} ${PROGRAM} "$@" 2>${path('errors')}`);
    await install();
    const { stderr, status } = git('checkout', '--quiet', '-b', 'feature/x');
    expect(await readFile(path('errors'), 'utf8')).not.toContain('error');
    expect(stderr.replace(/\/\/\S+\/copy/, '//…/copy')).toBe('Switched postgres://…/copy to new branch feature/x\n');
    expect([status, await current()]).toEqual([0, 'feature/x']);
  });

  itIf(process.env.TEST_FULL)(
    'refuses the main branch after switches by hand, and follows other branches',
    async () => {
      for (const name of ['one', 'two']) {
        const context = contextWith();
        await applyBranchSwitch(context, await planBranchSwitch(context, { target: 'app', name }));
      }
      git('checkout', 'main');
      await expect(follow()).rejects.toMatchObject({ code: 'branch_without_original' });
      expect(await current()).toBe('two');
      git('checkout', 'one');
      expect(await follow()).toMatchObject({ action: 'switch' });
      expect(await current()).toBe('one');
    },
  );
});
