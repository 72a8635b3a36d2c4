import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchReset } from '../../facets/branch.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { branchReplaced, findBranch } from '../../shared/branches.ts';
import { auxiliaryNames, lockDestination, lockShared, sweepLeftovers } from '../server/server.ts';
import { dropAfterFailure } from '../swap/drop-after-failure.ts';
import { inherit } from '../swap/inherit.ts';
import { writeComment } from '../swap/mark.ts';
import { replaceDestination } from '../swap/replace.ts';
import { rename, renameAll } from '../swap/swap.ts';
import { openSwapSession } from '../swap/swap-session.ts';
import { newFromBase } from './base-copies.ts';
import { branchComment, findClosedBase } from './copy.ts';
import { findBranches, type MarkedBranch } from './list.ts';

/** Replaces a branch by a new copy of the base copy. At every moment it is the old one or the new one. */
export async function resetBranch(context: EngineContext, request: BranchReset): Promise<ReplaceResult> {
  const { url, name, createdAt } = request;
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  const find = async (): Promise<MarkedBranch> => {
    const found = findBranch(await findBranches(server, destination), { name, url });
    if (found.createdAt !== createdAt) throw branchReplaced(name);
    return found;
  };
  const branch = await find();
  if (branch.current) return resetCurrent(context, request, branch);
  const { database } = branch;
  const restored = startStep(context.report, `branch ${name}`, `Reset branch ${name}`);
  await lockShared(server, destination, context.report);
  await lockDestination(server, database);
  await sweepLeftovers(server, database, context.report);
  if ((await find()).database !== database) throw branchReplaced(name);
  const base = await findClosedBase(server, url);
  request.accept(base);
  const shadow = auxiliaryNames(destination).shadow();
  let swapMs: number;
  let dropRetired: () => Promise<void>;
  try {
    const cloned = await newFromBase(context, server, { url, base, to: shadow });
    await inherit(context, server, { from: database, to: shadow, url, settings: [], role: request.role, copied: true });
    context.signal.throwIfAborted();
    const facts = { ...branch.mark.branch, cloned, reset_at: context.clock().toISOString() };
    const comment = await branchComment(server, { destination, database: shadow, base, branch: facts });
    const retired = [{ name: database, mark: { tool: 'new', of: destination } as const }];
    const renames = [rename(shadow, database), writeComment(database, comment)];
    ({ swapMs, dropRetired } = await renameAll(context, {
      ...{ server, url, retired, renames, databases: [shadow], replaces: database },
    }));
  } catch (error) {
    await dropAfterFailure(context, { url, names: [shadow] });
    throw error;
  }
  await dropRetired();
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
    { url, undo: true, role, fromBase: { spare: false }, comment: async () => comment },
    {
      async create({ server, shadow }) {
        const base = await findClosedBase(server, url);
        accept(base);
        const cloned = await newFromBase(context, server, { url, base, to: shadow });
        const branch = { ...mark.branch, cloned, reset_at: context.clock().toISOString() };
        comment = await branchComment(server, { destination, database: shadow, base, branch });
      },
    },
  );
}
