import { dirname, join } from 'node:path';
import { exists } from '../../config/config-file.ts';
import { UserError } from '../../runtime/errors.ts';
import type { Report } from '../../runtime/events.ts';
import { formatNumberOf } from '../../text/format.ts';
import { shellWord } from '../../text/shell-word.ts';
import { listTrees, markMentioned } from './memory.ts';
import { findTree } from './trees.ts';

/** Reports once that working trees of the current repository are gone, and that their branches can be dropped. */
export async function mentionGoneTrees(cwd: string, report: Report): Promise<void> {
  const tree = await findTree(cwd);
  const trees = tree ? await listTrees(tree) : [];
  const gone = trees.filter(({ present, mentioned }) => present === null && !mentioned);
  if (!tree || gone.length === 0) return;
  for (const each of gone) await markMentioned(tree, each);
  const count = formatNumberOf(gone.length, 'working tree is', 'working trees are');
  const message = `${count} gone, with branches that remain. To drop them: tool branch prune`;
  report({ event: 'warning', code: 'trees_gone', message });
}

/** A new working tree lacks untracked files: the hint of a missing configuration names that of the main tree. */
export async function withMainTreeFile(thrown: unknown, cwd: string): Promise<unknown> {
  if (!(thrown instanceof UserError) || thrown.code !== 'no_configuration') return thrown;
  const tree = await findTree(cwd).catch(() => null);
  const file = tree && !tree.isMain ? join(dirname(tree.common), 'tool.yml') : null;
  if (file === null || !(await exists(file))) return thrown;
  const hint = `The main working tree has one: add --config ${shellWord(file)}`;
  return new UserError(thrown.code, thrown.message, { exit: thrown.exit, hint });
}
