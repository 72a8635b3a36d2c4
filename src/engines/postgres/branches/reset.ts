import { performance } from 'node:perf_hooks';
import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchReset } from '../../facets/branch.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { findBranch } from '../../shared/branches.ts';
import { writeComment, writeMark } from '../mark.ts';
import { dropAfterFailure } from '../restore/drop-after-failure.ts';
import { replaceDestination } from '../restore/replace.ts';
import { inherit, rename, renameAll } from '../restore/swap.ts';
import { openSwapSession } from '../restore/swap-session.ts';
import { besideNames, dropMarked, lockBeside, lockDestination, verifyLock } from '../server/server.ts';
import { branchComment, copyBase, findClosedBase } from './copy.ts';
import { findBranches, type MarkedBranch } from './list.ts';

/** Replaces a branch by a new copy of the base copy. At every moment it is the old one or the new one. */
export async function resetBranch(context: EngineContext, request: BranchReset): Promise<ReplaceResult> {
  const { url, name } = request;
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  const branch = findBranch(await findBranches(server, destination), { name, url });
  if (branch.current) return resetCurrent(context, request, branch);
  const { database } = branch;
  const restored = startStep(context.report, `branch ${name}`, `Reset branch ${name}`);
  await lockBeside(server, destination, context.report);
  await lockDestination(server, database);
  const base = await findClosedBase(server, url);
  request.accept(base);
  const names = besideNames(destination);
  const [fresh, old] = [names.fresh(), names.fresh()];
  let swapMs: number;
  try {
    const cloned = await copyBase(context, server, { url, base, to: fresh });
    await inherit(context, server, { from: database, to: fresh, url, settings: [], role: request.role, copied: true });
    context.signal.throwIfAborted();
    const facts = { ...branch.mark.branch, cloned, reset_at: context.clock().toISOString() };
    const comment = await branchComment(server, { destination, database: fresh, base, branch: facts });
    const renames = [
      rename(database, old),
      writeMark(old, { tool: 'new', of: destination }),
      rename(fresh, database),
      writeComment(database, comment),
    ];
    await verifyLock(server, destination);
    const started = performance.now();
    await renameAll(context, { server, url, renames, databases: [database, fresh] });
    swapMs = Math.round(performance.now() - started);
  } catch (error) {
    await dropAfterFailure(context, { url, names: [fresh] });
    throw error;
  }
  await dropMarked(server, { name: old, destination, report: context.report });
  restored(`Reset branch ${name}`);
  return { swapMs, undoDatabase: null };
}

/** The branch is the destination at present, which keeps an undo copy as in any reset. */
async function resetCurrent(
  context: EngineContext,
  { url, role, accept }: BranchReset,
  { mark }: MarkedBranch,
): Promise<ReplaceResult> {
  const destination = url.database ?? '';
  let comment: string | null = null;
  return replaceDestination(
    context,
    { url, undo: true, role, fromBase: { spare: false }, comment: () => comment },
    {
      async create({ server, fresh }) {
        const base = await findClosedBase(server, url);
        accept(base);
        const cloned = await copyBase(context, server, { url, base, to: fresh });
        const branch = { ...mark.branch, cloned, reset_at: context.clock().toISOString() };
        comment = await branchComment(server, { destination, database: fresh, base, branch });
      },
    },
  );
}
