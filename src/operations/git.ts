import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { redact } from '../process/redact.ts';
import { fittingGitState, type GitState } from '../results/git-state.ts';
import type { Context } from '../runtime/context.ts';

export interface Checkout {
  /** Address of the remote `origin` without credentials, else the folder. */
  repository: string;
  folder: string;
  /** `null` for a detached HEAD. */
  branch: string | null;
}

const TIMEOUT_MS = 5000;

/** Programs that a repository's own configuration could name are not started. */
const NO_FSMONITOR = ['-c', 'core.fsmonitor=false'];
const SAFE = [...NO_FSMONITOR, '-c', 'core.hooksPath=/dev/null'];

/** The git repository of the current folder; `null` without git or a repository. */
export async function readCheckout(context: Context): Promise<Checkout | null> {
  const folder = await git(context, ['rev-parse', '--show-toplevel']);
  if (!folder) return null;
  const [branch, origin] = await Promise.all([
    git(context, ['symbolic-ref', '--quiet', '--short', 'HEAD']),
    git(context, ['config', '--get', 'remote.origin.url']),
  ]);
  return { repository: origin ? withoutCredentials(origin) : folder, folder, branch };
}

/** The state of the repository of the current folder for a manifest; `null` without git or a repository. */
export async function readGitState(context: Context): Promise<GitState | null> {
  const checkout = await readCheckout(context);
  if (!checkout) return null;
  const [commit, changes] = await Promise.all([
    git(context, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']),
    readChanges(context),
  ]);
  const { repository, folder, branch } = checkout;
  // A folder names the user.
  return fittingGitState({
    ...{ branch, commit },
    repository: repository === folder ? null : repository,
    clean: changes === null ? null : changes === '',
  });
}

/** Changed and untracked files, without the programs that filters of the repository's own configuration name. */
async function readChanges(context: Context): Promise<string | null> {
  const filters = await git(context, ['config', '--show-scope', '--name-only', '-z', '--get-regexp', '^filter\\.']);
  const settings = (filters ?? '').split('\0');
  const own = settings.flatMap((name, at) =>
    at % 2 === 1 && !['system', 'global'].includes(settings[at - 1] ?? '') ? [name] : [],
  );
  const without = own.flatMap((name) => ['-c', name.endsWith('.required') ? `${name}=false` : `${name}=`]);
  return git(context, [...without, 'status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=dirty']);
}

/** The branch of the remote `origin`'s HEAD, else `main` or `master`, where there is one. */
export async function readMainBranch(context: Context): Promise<string | null> {
  const head = await git(context, ['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD']);
  if (head) return head.slice(head.indexOf('/') + 1);
  const branches = await readGitBranches(context);
  return ['main', 'master'].find((name) => branches?.has(name)) ?? null;
}

/** Whether a rebase is in progress, which checks out commits of its own. */
export async function isRebasing(context: Context): Promise<boolean> {
  const paths = await git(context, ['rev-parse', '--git-path', 'rebase-merge', '--git-path', 'rebase-apply']);
  return (paths ?? '').split('\n').some((path) => path !== '' && existsSync(resolve(context.cwd ?? '', path)));
}

/** The file of a hook, by `core.hooksPath` too; `null` outside of a repository. */
export async function readHookFile(context: Context, name: string): Promise<string | null> {
  const path = await git(context, ['rev-parse', '--git-path', `hooks/${name}`], { safe: NO_FSMONITOR });
  return path ? resolve(context.cwd ?? '', path) : null;
}

/** Files below the top of the repository that match pathspecs, tracked or not; `null` where they are unknown. */
export async function listGitFiles(context: Context, pathspecs: string[]): Promise<string[] | null> {
  const folder = await git(context, ['rev-parse', '--show-toplevel']);
  if (!folder) return null;
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...pathspecs];
  const text = await git({ ...context, cwd: folder }, args);
  return text === null ? null : [...new Set(text.split('\0').filter((path) => path !== ''))];
}

/** The local branches of the current repository; `null` where they are unknown. */
export async function readGitBranches(context: Context): Promise<Set<string> | null> {
  const text = await git(context, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);
  return text === null ? null : new Set(text.split('\n').filter((line) => line !== ''));
}

/** The output of git without its last line feed; `null` where git is missing or has failed. */
async function git(
  { runner, cwd, signal }: Context,
  args: string[],
  { safe = SAFE }: { safe?: string[] } = {},
): Promise<string | null> {
  if (cwd === undefined) return null;
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const command = { file: 'git', args: ['-C', cwd, ...safe, ...args], env: { LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' } };
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
