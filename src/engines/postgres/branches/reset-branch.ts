import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchReset, ResetBranch } from '../../facets/branch.ts';
import type { InPlaceChanges } from '../../facets/reset.ts';
import { branchReplaced, findBranch, RESET_BY_COPY } from '../../shared/branches.ts';
import type { Readers } from '../dump/unchanged/readers.ts';
import { auxiliaryNames, lockDestination, lockShared, sweepLeftovers } from '../server/server.ts';
import { dropAfterFailure } from '../swap/drop-after-failure.ts';
import { inherit } from '../swap/inherit.ts';
import { writeComment } from '../swap/mark.ts';
import { replaceDestination } from '../swap/replace.ts';
import { rename, renameAll } from '../swap/swap.ts';
import { openSwapSession } from '../swap/swap-session.ts';
import { newFromBase } from './base-copies.ts';
import { branchComment, findClosedBase } from './copy.ts';
import { branchReaders, type LockedBranch, resetBranchInPlace } from './in-place/reset-branch-in-place.ts';
import { findBranches, type MarkedBranch } from './list.ts';

/** Makes a branch as its base copy is, in place or by a new copy. At every moment it is the old one or the new one. */
export async function resetBranch(context: EngineContext, request: BranchReset): Promise<ResetBranch> {
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
  const again = await find();
  if (again.database !== database) throw branchReplaced(name);
  const base = await findClosedBase(server, url);
  request.accept(base);
  const inPlace = request.copy ? RESET_BY_COPY.wanted : await tryInPlace(context, { url, branch: again, base, server });
  if (typeof inPlace !== 'string') {
    restored(`Reset branch ${name} in place: ${formatNumberOf(inPlace.tables.length, 'table')} changed`);
    return { swapMs: null, undoDatabase: null, inPlace };
  }
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
  restored(`Reset branch ${name}, by a copy: ${inPlace}`);
  return { swapMs, undoDatabase: null, inPlace };
}

async function tryInPlace(context: EngineContext, locked: LockedBranch): Promise<InPlaceChanges | string> {
  const opened: Readers[] = [];
  try {
    return await resetBranchInPlace(context, locked, async () => {
      const readers = await branchReaders(context, locked.url, locked.branch.database);
      opened.push(readers);
      return readers;
    });
  } catch (error) {
    context.signal.throwIfAborted();
    // A branch that admits no connection is replaced.
    if (!(error instanceof UserError) || opened.length > 0) throw error;
    return 'it admits no connection';
  } finally {
    await Promise.all(opened.map((readers) => readers[Symbol.asyncDispose]()));
  }
}

/** The branch is the destination at present, which keeps an undo copy as in any reset. */
async function resetCurrent(context: EngineContext, { url, role, accept }: BranchReset, { mark }: MarkedBranch) {
  const destination = url.database ?? '';
  let comment: string | null = null;
  const replaced = await replaceDestination(
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
  return { ...replaced, inPlace: RESET_BY_COPY.current };
}
