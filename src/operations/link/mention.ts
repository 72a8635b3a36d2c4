import { dirname, join } from 'node:path';
import { exists, type FileRequest, readConfigFile } from '../../config/config-file.ts';
import { requireTrust } from '../../config/trust/require-trust.ts';
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

/**
 * A new working tree lacks untracked files: the hint of a missing configuration names that of the main tree. A file that
 * is named is not asked about, so that one without trust is never named by `--config`.
 */
export async function withMainTreeFile(
  thrown: unknown,
  { cwd, environment }: Pick<FileRequest, 'cwd' | 'environment'>,
): Promise<unknown> {
  if (!(thrown instanceof UserError) || thrown.code !== 'no_configuration') return thrown;
  const tree = await findTree(cwd).catch(() => null);
  const folder = tree && !tree.isMain ? dirname(tree.common) : null;
  const file = join(folder ?? '', 'tool.yml');
  if (folder === null || !(await exists(file))) return thrown;
  const isTrusted = await readConfigFile({ cwd: folder, environment })
    .then((found) => found && requireTrust(found, { cwd: folder, environment }))
    .then(Boolean, () => false);
  const hint = isTrusted
    ? `The main working tree has one: add --config ${shellWord(file)}`
    : `The main working tree has one that is not trusted: read ${shellWord(file)}, then run there: tool trust`;
  return new UserError(thrown.code, thrown.message, { exit: thrown.exit, hint });
}
