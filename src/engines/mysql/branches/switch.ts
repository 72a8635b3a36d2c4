import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchRequest, SwitchResult } from '../../facets/branch.ts';
import { branchIsCurrent, findBranch } from '../../shared/branches.ts';
import { connectToServer } from '../connection/connect.ts';
import { releasable } from '../connection/keep-alive.ts';
import { databaseExists, lockDestination, readAuxiliaryNames } from '../server/server.ts';
import { sweepLeftovers } from '../swap/leftovers.ts';
import { assertNoForeignObjects } from '../swap/shadow-databases.ts';
import { baseFollows } from './base/base-follows.ts';
import { withoutSwitch } from './branch-mark.ts';
import { branchWithFreeName } from './last-switch.ts';
import { findBranches } from './list.ts';
import { sweepBranches } from './sweep.ts';
import { switchTables } from './switch-tables.ts';

/**
 * Gives the tables and the code of a branch the name of the destination. A branch that has it at present gets its own
 * name again; any other database becomes the undo copy.
 */
export async function switchTo(context: EngineContext, { url, name }: BranchRequest): Promise<SwitchResult> {
  const destination = url.database ?? '';
  await sweepBranches(context, url);
  const { signal, release: begun } = releasable(context.signal);
  await using server = await connectToServer({ signal }, url, { several: true });
  await lockDestination(server, destination);
  await sweepLeftovers(context, { server, url });
  const find = async () => findBranch(await findBranches(server, destination), { name, url });
  const listed = await find();
  if (listed.current) throw branchIsCurrent(name, url);
  const { database } = listed;
  await lockDestination(server, database);
  const { mark } = await find();
  const present = await branchWithFreeName(server, destination);
  if (present?.database) await lockDestination(server, present.database);
  await assertNoForeignObjects(context, server, { destination, undo: present === null });
  const keeps = present === null && (await databaseExists(server, destination));
  const switched = startStep(context.report, 'swap', `Switch ${destination} to branch ${name}`);
  const swapMs = await switchTables(context, {
    ...{ server, begun, url, keepsRights: true },
    from: { database, undoCopy: null },
    mark: { ...mark, database, switched_at: context.clock().toISOString(), previous: present?.name ?? null },
    leaving: present && withoutSwitch(present),
    base: await baseFollows(server, destination, { mark }),
  });
  switched(`Switched ${destination} to branch ${name}`);
  const { undo } = await readAuxiliaryNames(server, destination);
  return { swapMs, undoDatabase: keeps ? undo : null, previous: present?.name ?? null };
}
