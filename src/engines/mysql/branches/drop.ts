import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchRequest } from '../../facets/branch.ts';
import { branchIsCurrent, branchReplaced } from '../../shared/branches.ts';
import { connectToServer } from '../connection/connect.ts';
import { MARK, quotePath, quoteText } from '../connection/quote.ts';
import { dropDatabase, lockDestination } from '../server/server.ts';
import { branchMarkText } from './branch-mark.ts';
import { forgetBranch } from './in-place/unwritten-tables.ts';
import { findBranches } from './list.ts';
import { sweepBranches } from './sweep.ts';

/** Drops a branch by its mark; `false` where it was gone already. */
export async function dropBranch(context: EngineContext, { url, name }: BranchRequest): Promise<boolean> {
  const destination = url.database ?? '';
  await sweepBranches(context, url);
  await using server = await connectToServer(context, url);
  const dropped = startStep(context.report, `branch ${name}`, `Drop branch ${name}`);
  const find = async () => (await findBranches(server, destination)).find((each) => each.name === name);
  const listed = await find();
  if (listed) await lockDestination(server, listed.database);
  // A switch or a reset may have ended since.
  const branch = listed && (await find());
  if (!branch) return false;
  if (branch.current) throw branchIsCurrent(name, url);
  if (branch.database !== listed.database) throw branchReplaced(name);
  // Killed from here on, the rest is no branch, and the next command drops it.
  const mark = branchMarkText({ ...branch.mark, tool: 'dropped' });
  await server.execute(`ALTER TABLE ${quotePath(branch.database, MARK)} COMMENT = ${quoteText(mark)}`);
  await dropDatabase(server, branch.database);
  await forgetBranch(server, { destination, branch: branch.database });
  dropped(`Dropped branch ${name} (${branch.database})`);
  return true;
}
