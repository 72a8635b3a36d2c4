import { startStep } from '../../../runtime/events.ts';
import type { BranchReset, EngineContext, Replaced } from '../../engine.ts';
import { findBranch } from '../../shared/branches.ts';
import { connectToServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { copyToBranch } from './copy.ts';
import { findBranches, type MarkedBranch } from './list.ts';
import { branchChanged, sweepBranches } from './sweep.ts';

/**
 * Replaces a branch by a new copy of the base copy. At every moment its tables are the old ones or the new ones. The
 * destination, where it is this branch at present, keeps an undo copy as in any reset.
 */
export async function resetBranch(context: EngineContext, { url, name, accept }: BranchReset): Promise<Replaced> {
  const destination = url.database ?? '';
  await sweepBranches(context, url);
  const find = async (server: MysqlSession): Promise<MarkedBranch> =>
    findBranch(await findBranches(server, destination), { name, url });
  const branch = await (async () => {
    await using server = await connectToServer(context, url);
    return find(server);
  })();
  const restored = startStep(context.report, `branch ${name}`, `Reset branch ${name}`);
  const replaced = await copyToBranch(context, {
    ...{ url, database: branch.home, into: branch.database, undo: branch.current, accept },
    async begin(server) {
      if ((await find(server)).database !== branch.database) throw branchChanged(name);
    },
    mark: { ...branch.mark, reset_at: context.clock().toISOString() },
  });
  restored(`Reset branch ${name}`);
  return replaced;
}
