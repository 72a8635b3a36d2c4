import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchRequest } from '../../facets/branch.ts';
import { branchIsCurrent, branchReplaced } from '../../shared/branches.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteName } from '../connection/quote.ts';
import { auxiliaryNames, dropMarked, lockDestination, lockShared, sweepLeftovers } from '../server/server.ts';
import { findBranches } from './list.ts';

/** Drops a branch by its mark; `false` where it was gone already. */
export async function dropBranch(context: EngineContext, { url, name }: BranchRequest): Promise<boolean> {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const dropped = startStep(context.report, `branch ${name}`, `Drop branch ${name}`);
  await lockShared(server, destination, context.report);
  const find = async () => (await findBranches(server, destination)).find((each) => each.name === name);
  const listed = await find();
  if (listed) await lockDestination(server, listed.database);
  // A switch or a reset may have ended since.
  const branch = listed && (await find());
  if (!branch) return false;
  if (branch.current) throw branchIsCurrent(name, url);
  if (branch.database !== listed.database) throw branchReplaced(name);
  await sweepLeftovers(server, branch.database, context.report);
  const { undo } = auxiliaryNames(branch.database);
  await dropMarked(server, { name: undo, destination: branch.database, report: context.report });
  await server.execute(`DROP DATABASE IF EXISTS ${quoteName(branch.database)} WITH (FORCE)`);
  dropped(`Dropped branch ${name} (${branch.database})`);
  return true;
}
