import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchRequest, SwitchResult } from '../../facets/branch.ts';
import { branchIsCurrent, findBranch } from '../../shared/branches.ts';
import type { PostgresSession } from '../connection/session.ts';
import { auxiliaryNames, findAuxiliaryDatabases, lockDestination, sweepLeftovers } from '../server/server.ts';
import { checkSwap } from '../swap/blockers.ts';
import { branchMarkText, writeComment, writeMark } from '../swap/mark.ts';
import { readComment, rename, renameAll, toUndoCopy } from '../swap/swap.ts';
import { openSwapSession } from '../swap/swap-session.ts';
import { branchWithFreeName, leaveStatements } from './last-switch.ts';
import { findBranches, type MarkedBranch } from './list.ts';

/**
 * Gives a branch the name of the destination. A branch that has it at present gets its own name again; any other
 * database becomes the undo copy.
 */
export async function switchTo(context: EngineContext, { url, name }: BranchRequest): Promise<SwitchResult> {
  const { report, clock } = context;
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  await lockDestination(server, destination);
  await sweepLeftovers(server, destination, report);
  const branch = findBranch(await findBranches(server, destination), { name, url });
  if (branch.current) throw branchIsCurrent(name, url);
  await lockDestination(server, branch.database);
  const present = await readComment(server, destination);
  const leaving = present && (await branchWithFreeName(server, { destination, comment: present.comment }));
  await checkSwap(server, { destination, undo: leaving === null });
  const auxiliary = await findAuxiliaryDatabases(server, destination);
  const replaced = present && !leaving ? present : null;
  const retired = replaced && auxiliary.undo ? [auxiliary.undo] : [];
  const now = clock();
  const switched_at = now.toISOString();
  const renames = [
    ...(leaving ? leaveStatements(destination, leaving) : []),
    ...(replaced ? toUndoCopy(destination, { from: destination, replacedAt: now, comment: replaced.comment }) : []),
    rename(branch.database, destination),
    writeComment(
      destination,
      branchMarkText({
        ...branch.mark,
        branch: { ...branch.mark.branch, switched_at, previous: leaving?.branch.name ?? null },
      }),
    ),
    ...(await baseFollows(server, branch)),
  ];
  const databases = [destination, branch.database];
  const switched = startStep(report, 'swap', `Switch ${destination} to branch ${name}`);
  const { swapMs, dropRetired } = await renameAll(context, { server, url, retired, renames, databases });
  switched(`Switched ${destination} to branch ${name}`);
  await dropRetired();
  return { swapMs, undoDatabase: replaced && auxiliaryNames(destination).undo, previous: leaving?.branch.name ?? null };
}

/** A reset of the destination restores what the branch was made from, where that is still the base copy. */
async function baseFollows(server: PostgresSession, { mark }: MarkedBranch): Promise<string[]> {
  const { base } = await findAuxiliaryDatabases(server, mark.of);
  if (!base || base.mark.loaded_at !== mark.loaded_at || base.mark.snapshot !== mark.snapshot) return [];
  return [writeMark(base.name, { ...base.mark, destination_oid: mark.destination_oid })];
}
