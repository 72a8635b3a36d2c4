import { performance } from 'node:perf_hooks';
import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchRequest, SwitchResult } from '../../facets/branch.ts';
import { branchIsCurrent, findBranch } from '../../shared/branches.ts';
import type { PsqlSession } from '../connection/session.ts';
import { branchMarkText, writeComment, writeMark } from '../mark.ts';
import { checkSwap } from '../restore/blockers.ts';
import { readComment, rename, renameAll } from '../restore/swap.ts';
import { openSwapSession } from '../restore/swap-session.ts';
import { besideNames, dropMarked, findBeside, lockDestination, sweepLeftovers, verifyLock } from '../server/server.ts';
import { branchWithFreeName, leaveStatements } from './leave.ts';
import { findBranches, type MarkedBranch } from './list.ts';

/**
 * Gives a branch the name of the destination. A branch that has it at present gets its own name again; any other
 * database becomes the undo copy.
 */
export async function switchTo(context: EngineContext, { url, name }: BranchRequest): Promise<SwitchResult> {
  const { report, clock } = context;
  const destination = url.database ?? '';
  const names = besideNames(destination);
  await using server = await openSwapSession(context, url);
  await lockDestination(server, destination);
  await sweepLeftovers(server, destination, report);
  const branch = findBranch(await findBranches(server, destination), { name, url });
  if (branch.current) throw branchIsCurrent(name, url);
  await lockDestination(server, branch.database);
  const present = await readComment(server, destination);
  const leaving = present && (await branchWithFreeName(server, { destination, comment: present.comment }));
  await checkSwap(server, { destination, undo: leaving === null });
  const beside = await findBeside(server, destination);
  const retired = present && !leaving && beside.undo ? { ...beside.undo, to: names.fresh() } : null;
  const switched_at = clock().toISOString();
  const kept = {
    tool: 'undo',
    of: destination,
    replaced_at: switched_at,
    comment: present?.comment ?? null,
  } as const;
  const renames = [
    ...(retired ? [rename(retired.name, retired.to), writeMark(retired.to, { ...retired.mark, tool: 'new' })] : []),
    ...(leaving ? leaveStatements(destination, leaving) : []),
    ...(present && !leaving ? [rename(destination, names.undo), writeMark(names.undo, kept)] : []),
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
  const databases = [destination, branch.database, ...(retired ? [retired.name] : [])];
  const switched = startStep(report, 'swap', `Switch ${destination} to branch ${name}`);
  await verifyLock(server, destination);
  const started = performance.now();
  await renameAll(context, { server, url, renames, databases });
  const swapMs = Math.round(performance.now() - started);
  switched(`Switched ${destination} to branch ${name}`);
  if (retired) await dropMarked(server, { name: retired.to, destination, report });
  const undoDatabase = present && !leaving ? names.undo : null;
  return { swapMs, undoDatabase, previous: leaving?.branch.name ?? null };
}

/** A reset of the destination restores what the branch was made from, where that is still the base copy. */
async function baseFollows(server: PsqlSession, { mark }: MarkedBranch): Promise<string[]> {
  const { base } = await findBeside(server, mark.of);
  if (!base || base.mark.loaded_at !== mark.loaded_at || base.mark.snapshot !== mark.snapshot) return [];
  return [writeMark(base.name, { ...base.mark, destination_oid: mark.destination_oid })];
}
