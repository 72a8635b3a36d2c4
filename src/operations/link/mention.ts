import type { Report } from '../../runtime/events.ts';
import { formatNumberOf } from '../../text/format.ts';
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
