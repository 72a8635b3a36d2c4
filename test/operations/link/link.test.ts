import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listBranches } from '../../../src/operations/branch/list/list.ts';
import { applyBranchPrune, planBranchPrune } from '../../../src/operations/branch/prune/prune.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLink, planLink } from '../../../src/operations/link/link.ts';
import { mentionGoneTrees } from '../../../src/operations/link/mention.ts';
import { linkQuestion } from '../../../src/operations/link/text.ts';
import { applyUnlink, planUnlink } from '../../../src/operations/link/unlink.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../../helpers/program.ts';

describeWithPostgres('tool link', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('source');
    await server.createDatabase('shop_dev');
    await server.psql('source', { sql: 'CREATE TABLE person (id integer); INSERT INTO person VALUES (1)' });
    await build(contextWith(), { target: 'shop', push: false });
    await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'shop', keepBase: true, undo: false }));
    for (const name of ['bin', 'main']) await mkdir(path(name));
    await writeFile(path('bin/tool'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@" 2>>${path('errors')}\n`, {
      mode: 0o755,
    });
    git('main', 'init', '--quiet', '--initial-branch=main');
    await writeFile(path('main/.gitignore'), '.env.local\ntool.yml\n');
    git('main', 'add', '.');
    git('main', 'commit', '--quiet', '-m', 'one');
    await writeFile(path('main/tool.yml'), config());
  }, 60_000);

  beforeEach(async () => {
    await writeFile(path('main/.env.local'), environment());
  });

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const path = (name: string): string => join(folder.path, name);
  const url = (): string =>
    `${server.url('shop_dev')}${server.url('shop_dev').includes('?') ? '&' : '?'}application_name=x`;
  const environment = (): string => `SECRET=abc\nexport DATABASE_URL="${url()}" # of the shop\nOTHER=1\n`;
  const config = (): string =>
    `secret_key: abcdef0123456789abcdef0123456789\nworking_directory: ${path('work')}\ntargets:\n  shop:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('shop_dev')}\n`;

  function git(cwd: string, ...words: string[]) {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
    const env = { ...process.env, TOOL_TRUST: 'true', PATH: `${path('bin')}:${process.env.PATH}` };
    return spawnSync('git', ['-C', path(cwd), ...identity, ...words], { encoding: 'utf8', env });
  }

  function contextWith(cwd = 'main'): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('shop_dev') };
    const settings = { working_directory: path('work'), targets: { shop: { snapshot } }, defaults: { cpus: 1 } };
    const context = testContext({ settings });
    context.configuration.file = path('main/tool.yml');
    return { ...context, cwd: path(cwd) };
  }
  const link = async (more: object = {}) => {
    const planned = await planLink(contextWith(), { target: 'shop', ...more });
    await applyLink(contextWith(), planned);
    return planned.plan;
  };
  const unlink = async () => applyUnlink(contextWith(), await planUnlink(contextWith(), {}));
  const hook = (): string => path('main/.git/hooks/post-checkout');
  const databaseOf = async (tree: string): Promise<string> => {
    const value = parseEnv(await readFile(path(`${tree}/.env.local`), 'utf8')).DATABASE_URL ?? '';
    expect(new URL(value).searchParams.get('application_name')).toBe('x');
    return new URL(value).pathname.slice(1);
  };
  const rowsIn = async (database: string) =>
    (await server.psql(database, { sql: 'SELECT count(*) FROM person' })).trim();

  const prune = async () => applyBranchPrune(contextWith(), await planBranchPrune(contextWith(), {}));
  const rowOf = async (name: string) =>
    (await listBranches(contextWith(), { target: 'shop' })).branches.find((branch) => branch.name === name);
  async function mentioned(): Promise<string[]> {
    const found: string[] = [];
    await mentionGoneTrees(path('main'), (event) => void (event.event === 'warning' && found.push(event.message)));
    return found;
  }

  it('gives a new working tree a database, named by its own line, and is undone byte for byte', async () => {
    const before = '#!/bin/sh\necho mine \xff\nexit 0\n';
    await mkdir(path('main/.git/hooks'), { recursive: true });
    await writeFile(hook(), before, { encoding: 'latin1', mode: 0o755 });
    const plan = await link();
    const asked = linkQuestion(plan).facts.map(({ value }) => value);
    for (const line of plan.hook?.text.split('\n').slice(0, -1) ?? []) expect(asked).toContain(line);
    expect(await readFile(hook(), 'latin1')).toContain('mine \xff');
    expect((await stat(path('main/.git/tool/link.json'))).mode & 0o777).toBe(0o600);

    const added = git('main', 'worktree', 'add', '--quiet', path('fix'), '-b', 'fix');
    expect(added.stderr).toContain('.env.local has the database of new branch fix');
    expect(await readFile(path('fix/.env.local'), 'utf8')).toBe(
      `export DATABASE_URL="${url().replace('/shop_dev', '/shop_dev_fix')}" # of the shop\n`,
    );
    expect((await stat(path('fix/.env.local'))).mode & 0o777).toBe(0o600);
    expect(await rowsIn(await databaseOf('fix'))).toBe('1');
    expect(await readFile(path('main/.env.local'), 'utf8')).toBe(environment());
    expect(git('main', 'status', '--porcelain').stdout + git('fix', 'status', '--porcelain').stdout).toBe('');

    expect(git('fix', 'checkout', '--quiet', '-b', 'other').stderr).toContain('unchanged');
    expect(await databaseOf('fix')).toBe('shop_dev_fix');
    expect(git('main', 'checkout', '--quiet', '-b', 'elsewhere').stderr).toContain('keeps its database');

    expect(await rowOf('fix')).toMatchObject({ tree: path('fix'), protected: false });
    git('main', 'worktree', 'move', path('fix'), path('moved'));
    expect((await prune()).dropped).toEqual([]);
    expect(await rowOf('fix')).toMatchObject({ tree: path('moved') });
    git('main', 'worktree', 'move', path('moved'), path('fix'));
    git('main', 'worktree', 'add', '--quiet', path('gone'), '-b', 'gone');
    const gone = await databaseOf('gone');
    git('main', 'worktree', 'remove', '--force', path('gone'));
    // Another tree of this name has a database of its own.
    git('main', 'worktree', 'add', '--quiet', path('gone'), 'gone');
    expect(await databaseOf('gone')).not.toBe(gone);
    expect(await mentioned()).toEqual(['1 working tree is gone, with branches that remain. To drop them: tool branch prune']);
    expect(await mentioned()).toEqual([]);
    expect((await prune()).dropped).toMatchObject([{ database: gone }]);
    expect(await rowOf('gone')).toBeUndefined();
    git('main', 'worktree', 'remove', '--force', path('gone'));
    expect((await prune()).dropped).toHaveLength(1);
    expect(await readdir(path('main/.git/tool/trees'))).toHaveLength(1);

    expect(await unlink()).toMatchObject({ branches: ['fix'] });
    expect(await readFile(hook(), 'latin1')).toBe(before);
    await expect(stat(path('fix/.env.local'))).rejects.toThrow();
    await expect(stat(path('main/.git/tool'))).rejects.toThrow();
    await expect(stat(path('main/.git/worktrees/fix/tool-tree'))).rejects.toThrow();
  });
});
