import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { redact } from '../process/redact.ts';
import { fittingGitState, type GitState } from '../results/manifest/git-state.ts';
import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import { shell } from '../text/shell-word.ts';

export interface Checkout {
  /** Address of the remote `origin` without credentials, else the folder. */
  repository: string;
  folder: string;
  /** `null` for a detached HEAD. */
  branch: string | null;
  /** `null` before the first one. */
  commit: string | null;
}

type GitContext = Pick<Context, 'runner' | 'environment' | 'cwd' | 'signal'>;

const TIMEOUT_MS = 5000;

/**
 * Settings of the repository that name programs are overridden, and a folder that only looks like a bare repository is
 * none. No command here reads the content of files, for which git would run the filters of the repository.
 * https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository
 */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'safe.bareRepository=explicit'];
const NO_HOOKS = ['-c', 'core.hooksPath=/dev/null'];

/** A missing object is not fetched: the repository names the program on the other side. */
const ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_TERMINAL_PROMPT: '0',
};

/** The git repository of the current folder; `null` without git or a repository. */
export async function readCheckout(context: Context): Promise<Checkout | null> {
  if (!(await mayBeIn(context))) return null;
  const [head, origin] = await Promise.all([readHead(context), git(context, ['config', '--get', 'remote.origin.url'])]);
  if (!head || !(await isOwnFolder(context, head.folder))) return null;
  return { repository: origin ? withoutCredentials(origin) : head.folder, ...head };
}

/** Reads the checkout without the repository's address, which takes a process more. */
export async function readCheckoutHead(context: Context): Promise<Omit<Checkout, 'repository'> | null> {
  const head = (await mayBeIn(context)) ? await readHead(context) : null;
  return head && (await isOwnFolder(context, head.folder)) ? head : null;
}

/** Everything by one process, which fails before the first commit. */
async function readHead(context: Context): Promise<Omit<Checkout, 'repository'> | null> {
  const answer = await git(context, ['rev-parse', '--show-toplevel', 'HEAD', '--symbolic-full-name', 'HEAD']);
  if (answer !== null) {
    const lines = answer.split('\n');
    const [commit = '', name = ''] = lines.splice(-2);
    return { folder: lines.join('\n'), branch: name.startsWith(BRANCHES) ? name.slice(BRANCHES.length) : null, commit };
  }
  const folder = await git(context, ['rev-parse', '--show-toplevel']);
  if (!folder) return null;
  return { folder, branch: await git(context, ['symbolic-ref', '--quiet', '--short', 'HEAD']), commit: null };
}

const BRANCHES = 'refs/heads/';

/** The state of the repository of the current folder for a manifest; `null` without git or a repository. */
export async function readGitState(context: Context): Promise<GitState | null> {
  const checkout = await readCheckout(context);
  if (!checkout) return null;
  const { repository, folder, branch, commit } = checkout;
  // A folder names the user.
  return fittingGitState({ branch, commit, repository: repository === folder ? null : repository, clean: null });
}

/** The branch of the remote `origin`'s HEAD, else `main` or `master`, where there is one. */
export async function readMainBranch(context: Context): Promise<string | null> {
  const head = await git(context, ['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD']);
  if (head) return head.slice(head.indexOf('/') + 1);
  const branches = await readGitBranches(context);
  return ['main', 'master'].find((name) => branches?.has(name)) ?? null;
}

/** Reports whether a rebase is in progress, which checks out commits of its own. */
export async function isRebasing(context: Context): Promise<boolean> {
  const paths = await git(context, ['rev-parse', '--git-path', 'rebase-merge', '--git-path', 'rebase-apply']);
  return (paths ?? '').split('\n').some((path) => path !== '' && existsSync(resolve(context.cwd ?? '', path)));
}

/** The file of a hook, by `core.hooksPath` too; `null` outside of a repository. */
export async function readHookFile(context: Context, name: string): Promise<string | null> {
  const path = await git(context, ['rev-parse', '--git-path', `hooks/${name}`], { settings: SAFE });
  return path ? resolve(context.cwd ?? '', path) : null;
}

/** Files below the top of the repository that match pathspecs, tracked or not; `null` where they are unknown. */
export async function listGitFiles(context: Context, pathspecs: string[]): Promise<string[] | null> {
  const folder = await readFolder(context);
  if (folder === null) return null;
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...pathspecs];
  const text = await git({ ...context, cwd: folder }, args);
  return text === null ? null : [...new Set(text.split('\0').filter(isInside))];
}

/** Reports whether git tracks a file of the current tree. Throws where that is unknown. */
export async function isTracked(context: Context, file: string): Promise<boolean> {
  const args = ['--literal-pathspecs', 'ls-files', '-z', '--cached', '--full-name', '--', file];
  const text = await git(context, args);
  if (text === null)
    throw new UserError('git_missing', `git could not list the files of ${context.cwd}`, {
      hint: 'Run the command in the working tree of a git repository.',
    });
  return text !== '';
}

/** Reports whether git would add a file, which need not exist, to a commit: it is in a working tree, and not ignored. */
export async function isOfferedByGit(context: GitContext, file: string): Promise<boolean> {
  if (!(await mayBeIn(context)) || (await readFolder(context)) === null) return false;
  return (await git(context, ['check-ignore', '--quiet', '--', file])) === null;
}

/** The name that git gives to the content of a file; `null` where it cannot be read. No filter of the repository runs. */
export function hashFile(context: Context, file: string): Promise<string | null> {
  return git(context, ['hash-object', '--no-filters', '--', file]);
}

/** An index may name any path. */
function isInside(path: string): boolean {
  return path !== '' && !path.startsWith('/') && !path.split('/').includes('..');
}

async function readFolder(context: GitContext): Promise<string | null> {
  const folder = await git(context, ['rev-parse', '--show-toplevel']);
  return folder && (await isOwnFolder(context, folder)) ? folder : null;
}

/**
 * The settings of a repository may name any folder as its working tree: only the one that has its `.git` counts, unless
 * the user's environment names another.
 */
async function isOwnFolder(context: GitContext, folder: string): Promise<boolean> {
  const { cwd } = context;
  if (cwd === undefined) return false;
  if (isNamedByEnvironment(context)) return true;
  const [top, found] = await Promise.all([realpath(folder), nearestRepository(cwd)]).catch(() => [folder, null]);
  return top === found;
}

/** Answered without git: most folders are in no repository. */
async function mayBeIn(context: GitContext): Promise<boolean> {
  const { cwd } = context;
  if (cwd === undefined || isNamedByEnvironment(context)) return true;
  return (await nearestRepository(cwd).catch(() => null)) !== null;
}

/** Returns the error of a folder that git shows no working tree for: of another owner, bare, damaged, or none at all. */
export async function noRepository({ cwd = '.' }: Pick<Context, 'cwd'>): Promise<UserError> {
  const folder = await nearestRepository(cwd).catch(() => null);
  if (folder !== null) {
    return new UserError('git_missing', `git shows no working tree in ${folder}`, {
      hint: `To see why: ${shell`git -C ${folder} rev-parse --show-toplevel`}. Use a working tree that belongs to you.`,
    });
  }
  return new UserError('git_missing', 'The current folder is in no git repository', {
    hint: 'Run the command in the working tree of a git repository.',
  });
}

/** The top folder of the main working tree, as git lists it; `null` in a bare repository, which has none. */
export async function readMainFolder(context: Context): Promise<string | null> {
  const list = await git(context, ['worktree', 'list', '--porcelain']);
  const [first = ''] = (list ?? '').split('\n\n');
  return first.endsWith('\nbare') ? null : (/^worktree (.+)$/m.exec(first)?.[1] ?? null);
}

/** The git folder that the user's environment names for this folder; `null` where it names none. */
export async function readNamedFolder(context: Context): Promise<string | null> {
  if (!isNamedByEnvironment(context)) return null;
  return (await git(context, ['rev-parse', '--absolute-git-dir'])) ?? '';
}

function isNamedByEnvironment({ environment }: GitContext): boolean {
  return Boolean(environment.GIT_DIR || environment.GIT_WORK_TREE);
}

async function nearestRepository(cwd: string): Promise<string | null> {
  for (let folder = await realpath(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** The local branches of the current repository; `null` where they are unknown. */
export async function readGitBranches(context: Context): Promise<Set<string> | null> {
  const text = await git(context, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);
  return text === null ? null : new Set(text.split('\n').filter((line) => line !== ''));
}

/** The output of git without its last line feed; `null` where git is missing or has failed. */
async function git(
  { runner, cwd, signal }: GitContext,
  args: string[],
  { settings = [...SAFE, ...NO_HOOKS] }: { settings?: string[] } = {},
): Promise<string | null> {
  if (cwd === undefined) return null;
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const command = { file: 'git', args: ['-C', cwd, ...settings, ...args], env: ENVIRONMENT };
    const { exitCode, stdout } = await runner.run(command, { signal: timeout });
    return exitCode === 0 ? stdout.replace(/\n$/, '') : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

function withoutCredentials(address: string): string {
  const plain = address.replace(/^([\w+.-]+:\/\/)[^/]*@/, '$1').replace(/[?#].*$/, '');
  return redact(plain);
}
