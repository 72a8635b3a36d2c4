import { lstat, readFile, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Context } from '../../runtime/context.ts';
import { type Checkout, readCheckout, readNamedFolder } from '../git.ts';
import { refused } from './tree-file.ts';

export interface Tree {
  /** Its top folder. */
  folder: string;
  /** The git folder of this tree only: `.git/worktrees/NAME`, or that of the main tree. */
  own: string;
  /** The git folder that all trees of the repository share. */
  common: string;
  isMain: boolean;
}

/** The content of a git file that names a path, at most, in bytes. */
const MOST_BYTES = 8192;

/** The tree of the current folder; `null` outside of a repository, and in one that git does not trust. */
export async function readTree(context: Context): Promise<Tree | null> {
  const checkout = await readCheckout(context);
  return checkout && treeOf(context, checkout);
}

/** The tree of a checkout. Refuses one that GIT_DIR or GIT_WORK_TREE puts together from two repositories. */
export async function treeOf(context: Context, { folder }: Pick<Checkout, 'folder'>): Promise<Tree | null> {
  const [tree, named] = await Promise.all([findTree(folder), readNamedFolder(context)]);
  if (named === null || named === tree?.own) return tree;
  throw refused(`GIT_DIR or GIT_WORK_TREE leads from ${folder} to another repository`, 'Unset these variables.');
}

/** Finds the tree that a folder is in, without a process. A link between both folders of git must lead both ways. */
export async function findTree(start: string): Promise<Tree | null> {
  for (let folder = await realpath(start); ; folder = dirname(folder)) {
    const entry = join(folder, '.git');
    const found = await lstat(entry).catch(() => null);
    if (found?.isDirectory()) return { folder, own: entry, common: entry, isMain: true };
    if (found?.isFile()) return await linkedTree(folder);
    if (found || folder === dirname(folder)) return null;
  }
}

async function linkedTree(folder: string): Promise<Tree | null> {
  const [, to] = /^gitdir: (.+)\n?$/.exec(await readShort(join(folder, '.git'))) ?? [];
  if (to === undefined) return null;
  const own = resolve(folder, to);
  const named = await readShort(join(own, 'commondir')).catch(() => null);
  if (named === null) return null;
  const common = await realpath(resolve(own, named.trimEnd()));
  // Where git keeps it: the folder of a stranger's tree may name another repository.
  if ((await realpath(own)) !== join(common, 'worktrees', basename(own))) return null;
  const back = resolve(own, (await readShort(join(own, 'gitdir'))).trimEnd());
  if ((await realpath(back).catch(() => '')) !== join(folder, '.git')) return null;
  return { folder, own, common, isMain: false };
}

/** The folder of a linked tree; `null` where it is gone, by the rules of `git worktree prune`. */
export async function folderOfTree(own: string): Promise<string | null> {
  const text = await readShort(join(own, 'gitdir')).catch(() => null);
  if (text === null) return null;
  const entry = resolve(own, text.trimEnd());
  const exists = (path: string): Promise<boolean> =>
    lstat(path).then(
      () => true,
      () => false,
    );
  return (await exists(entry)) || (await exists(join(own, 'locked'))) ? dirname(entry) : null;
}

/** Reads a small file; rejects for a link and any other file. */
export async function readShort(file: string, most = MOST_BYTES): Promise<string> {
  const stat = await lstat(file);
  if (!stat.isFile() || stat.size > most) {
    throw new Error(`${file} is no small file${stat.isSymbolicLink() ? `, but leads to ${await readlink(file)}` : ''}`);
  }
  return readFile(file, 'utf8');
}
