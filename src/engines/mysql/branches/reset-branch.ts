import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchReset } from '../../facets/branch.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { branchReplaced, findBranch } from '../../shared/branches.ts';
import { withServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withoutSwitch } from './branch-mark.ts';
import { copyToBranch } from './copy.ts';
import { findBranches, type MarkedBranch } from './list.ts';
import { sweepBranches } from './sweep.ts';

/** Replaces a branch by a new copy of the base copy. At every moment its tables are the old ones or the new ones. */
export async function resetBranch(
  context: EngineContext,
  { url, name, createdAt, accept }: BranchReset,
): Promise<ReplaceResult> {
  const destination = url.database ?? '';
  await sweepBranches(context, url);
  const find = async (server: MysqlSession): Promise<MarkedBranch> => {
    const found = findBranch(await findBranches(server, destination), { name, url });
    if (found.createdAt !== createdAt) throw branchReplaced(name);
    return found;
  };
  const { database, mark, current } = await withServer(context, url, find);
  const restored = startStep(context.report, `branch ${name}`, `Reset branch ${name}`);
  const replaced = await copyToBranch(context, {
    // One that is the destination at present keeps an undo copy, as in any reset.
    ...{ url, database, undo: current, accept },
    async begin(server) {
      if ((await find(server)).database !== database) throw branchReplaced(name);
    },
    mark: { ...withoutSwitch(mark), reset_at: context.clock().toISOString() },
  });
  restored(`Reset branch ${name}`);
  return replaced;
}
