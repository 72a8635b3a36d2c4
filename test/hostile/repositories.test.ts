import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  isRebasing,
  listGitFiles,
  readCheckout,
  readGitBranches,
  readGitState,
  readHookFile,
  readMainBranch,
} from '../../src/operations/git.ts';
import { localRunner } from '../../src/process/local.ts';
import type { Context } from '../../src/runtime/context.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hostile-git-'));
});

afterEach(() => rm(folder, { recursive: true }));

const at = (...path: string[]) => join(folder, ...path);
const ran = () => at('ran');
const program = () => `touch ${ran()}; cat`;

function git(directory: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...identity, ...args], { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

async function repository(): Promise<string> {
  const path = at('repository');
  await mkdir(path);
  git(path, 'init', '--quiet', '--initial-branch', 'main');
  await writeFile(join(path, 'tracked.txt'), 'one');
  git(path, 'add', '.');
  git(path, 'commit', '--quiet', '--message', 'one');
  git(path, 'remote', 'add', 'origin', 'https://git.example.com/app.git');
  return path;
}

function contextIn(cwd: string): Context {
  const environment = { PATH: process.env.PATH, HOME: folder };
  const runner = localRunner({ environment, report: () => {} });
  return { cwd, runner, environment, signal: new AbortController().signal } as unknown as Context;
}

/** Every reading that the program makes in a folder. */
async function readEverything(cwd: string) {
  const context = contextIn(cwd);
  await isRebasing(context);
  await listGitFiles(context, [':(glob)**/*.sql', 'tracked.txt']);
  await readGitBranches(context);
  await readHookFile(context, 'post-checkout');
  await readMainBranch(context);
  await readCheckout(context);
  return readGitState(context);
}

test.for([
  ['clean', 'evil'],
  ['clean', 'a=b'],
  ['process', 'a=b'],
  ['smudge', 'a=b'],
] as const)('no filter %s of a driver named %s runs', async ([kind, name]) => {
  const path = await repository();
  await writeFile(join(path, '.gitattributes'), `* filter=${name}\n`);
  git(path, 'config', `filter.${name}.${kind}`, program());
  git(path, 'config', `filter.${name}.required`, 'true');
  await writeFile(join(path, 'tracked.txt'), 'two');
  expect(await readEverything(path)).toMatchObject({ branch: 'main', commit: expect.any(String) });
  expect(existsSync(ran())).toBe(false);
});

test.for([
  'core.fsmonitor',
  'core.sshCommand',
  'core.pager',
  'core.editor',
  'core.askPass',
  'core.alternateRefsCommand',
])('no program of the setting %s runs', async (setting) => {
  const path = await repository();
  git(path, 'config', setting, program());
  expect(await readEverything(path)).toMatchObject({ branch: 'main' });
  expect(existsSync(ran())).toBe(false);
});

test('no program of a remote runs where objects of a partial clone are missing', async () => {
  const path = await repository();
  const commit = git(path, 'rev-parse', 'HEAD');
  for (const [name, value] of [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.partialCloneFilter', 'blob:none'],
    ['remote.origin.url', folder],
    ['remote.origin.uploadPack', program()],
  ] as const) {
    git(path, 'config', name, value);
  }
  await rm(join(path, '.git', 'objects', commit.slice(0, 2)), { recursive: true });
  expect(await readEverything(path)).toMatchObject({ branch: 'main', commit });
  expect(existsSync(ran())).toBe(false);
});

test('a working tree elsewhere is none', async () => {
  const path = await repository();
  await mkdir(at('db', 'migrate'), { recursive: true });
  await writeFile(at('db', 'migrate', '1_private.rb'), '');
  git(path, 'config', 'core.worktree', folder);
  expect(await readEverything(path)).toBeNull();
  expect(await listGitFiles(contextIn(path), [':(top,glob)**/*.rb'])).toBeNull();
});

test('a submodule and a linked working tree are read', async () => {
  const path = await repository();
  git(path, 'worktree', 'add', '--quiet', at('linked'));
  git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', path, 'inner');
  for (const directory of [at('linked'), join(path, 'inner')]) {
    expect(await readCheckout(contextIn(directory))).toMatchObject({ folder: directory });
    expect(await listGitFiles(contextIn(directory), [':(top,glob)**/*.txt'])).toEqual(['tracked.txt']);
  }
});

test('no file outside of the repository is listed by an index that names it', async () => {
  const path = await repository();
  const header = Buffer.alloc(12);
  header.write('DIRC');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(1, 8);
  const name = '../private.txt';
  const entry = Buffer.alloc(Math.floor((62 + name.length) / 8) * 8 + 8);
  entry.writeUInt32BE(0o100644, 24);
  entry.writeUInt16BE(name.length, 60);
  entry.write(name, 62);
  const index = Buffer.concat([header, entry]);
  await writeFile(join(path, '.git', 'index'), Buffer.concat([index, createHash('sha1').update(index).digest()]));
  expect(git(path, 'ls-files', '--cached')).toBe(name);
  expect(await listGitFiles(contextIn(path), [':(top,glob)**/*.txt'])).toEqual(['tracked.txt']);
});

test('a folder that looks like a bare repository is none', async () => {
  const path = at('bare');
  await mkdir(join(path, 'objects'), { recursive: true });
  await mkdir(join(path, 'refs'));
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/main\n');
  const settings = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${path}\n\tfsmonitor = "${program()}"\n`;
  await writeFile(join(path, 'config'), settings);
  expect(await readEverything(path)).toBeNull();
  expect(existsSync(ran())).toBe(false);
});
