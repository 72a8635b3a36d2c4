import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { listBranches } from '../../src/operations/branch/list/list.ts';
import { applyBranchPrune, planBranchPrune } from '../../src/operations/branch/prune/prune.ts';
import { build } from '../../src/operations/build/build.ts';
import { applyLink, planLink } from '../../src/operations/link/link.ts';
import { applyUnlink, planUnlink } from '../../src/operations/link/unlink.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { Context } from '../../src/runtime/context.ts';
import type { AnyServer } from './databases/any-server.ts';
import { temporaryFolder, testContext } from './postgres/postgres-server.ts';
import { PROGRAM } from './program.ts';

export type LinkedRepository = Awaited<ReturnType<typeof createRepository>>;

const IDENTITY = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];

/** A git repository with an application and target `shop`, whose destination `shop_dev` has a base copy. */
export async function createRepository(
  server: AnyServer,
  { main = 'main', fill = [] }: { main?: string; fill?: string[] } = {},
) {
  const folder = await temporaryFolder();
  const path = (name: string): string => join(folder.path, name);
  const place = (tree: string): string => path(tree === 'main' ? main : tree);
  const XDG_CACHE_HOME = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const home = { HOME: path('home'), XDG_CACHE_HOME };
  const env = { ...process.env, ...home, TOOL_TRUST: 'true', PATH: `${path('bin')}:${process.env.PATH}` };
  const applicationUrl = (database = 'shop_dev'): string => {
    const url = new URL(server.url(database));
    url.searchParams.set('connection_limit', '5');
    return url.href;
  };
  /** Of the main tree. */
  const environment = (database?: string): string =>
    `SECRET=abc\nexport DATABASE_URL="${applicationUrl(database)}" # of the shop\nOTHER=1\n`;
  const config = (destination = 'shop_dev', more = ''): string =>
    `secret_key: abcdef0123456789abcdef0123456789\nworking_directory: ${path('work')}\n${more}targets:\n  shop:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url(destination)}\n`;
  const git = (tree: string, ...words: string[]) =>
    spawnSync('git', ['-C', place(tree), ...IDENTITY, ...words], { encoding: 'utf8', env });
  /** Does not wait for other commands. */
  const gitAtOnce = (tree: string, ...words: string[]): Promise<string> =>
    new Promise((done, fail) => {
      execFile('git', ['-C', place(tree), ...IDENTITY, ...words], { env }, (error, _, stderr) =>
        error ? fail(error) : done(stderr),
      );
    });
  function contextWith(more: object = {}): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('shop_dev') };
    const settings = {
      working_directory: path('work'),
      targets: { shop: { snapshot } },
      defaults: { cpus: 1 },
      ...more,
    };
    const context = testContext({ settings });
    context.configuration.file = join(place('main'), 'tool.yml');
    return { ...context, cwd: place('main'), environment: { ...context.environment, ...home } };
  }
  for (const name of ['bin', main]) await mkdir(path(name));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@" 2>>'${path('errors')}'\n`;
  await writeFile(path('bin/tool'), program, { mode: 0o755 });
  git('main', 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(place('main'), '.gitignore'), '.env.local\ntool.yml\n');
  git('main', 'add', '.');
  git('main', 'commit', '--quiet', '-m', 'one');
  await writeFile(join(place('main'), 'tool.yml'), config());
  await writeFile(join(place('main'), '.env.local'), environment());
  await server.create('source');
  await server.create('shop_dev');
  await server.run('source', [
    'CREATE TABLE person (id integer PRIMARY KEY)',
    'INSERT INTO person VALUES (1)',
    ...fill,
  ]);
  await build(contextWith(), { target: 'shop', push: false });
  await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'shop', keepBase: true, undo: false }));

  return {
    ...{ path, place, env, git, gitAtOnce, contextWith, environment, config, applicationUrl },
    async link(more: object = {}) {
      const planned = await planLink(contextWith(), { target: 'shop', ...more });
      await applyLink(contextWith(), planned);
      return planned.plan;
    },
    unlink: async () => applyUnlink(contextWith(), await planUnlink(contextWith(), {})),
    prune: async () => applyBranchPrune(contextWith(), await planBranchPrune(contextWith(), {})),
    branches: async () => (await listBranches(contextWith(), { target: 'shop' })).branches,
    /** The database that the file of a tree names. */
    async databaseOf(tree: string): Promise<string> {
      const url = new URL(parseEnv(await readFile(join(place(tree), '.env.local'), 'utf8')).DATABASE_URL ?? '');
      return url.searchParams.get('connection_limit') === '5' ? decodeURIComponent(url.pathname.slice(1)) : '';
    },
    rowsIn: async (database: string) => Number((await server.column(database, 'SELECT count(*) FROM person'))[0]),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
