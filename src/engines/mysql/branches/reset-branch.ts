import { startStep } from '../../../runtime/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchReset } from '../../facets/branch.ts';
import type { InPlaceChanges } from '../../facets/reset.ts';
import { branchReplaced, findBranch, RESET_BY_COPY } from '../../shared/branches.ts';
import { withServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withoutSwitch } from './branch-mark.ts';
import { copyToBranch } from './copy.ts';
import { tryBranchInPlace } from './in-place/reset-branch-in-place.ts';
import { findBranches, type MarkedBranch } from './list.ts';
import { sweepBranches } from './sweep.ts';

/** Makes a branch as its base copy is, in place or by a new copy. At every moment its rows are the old ones or the new ones. */
export async function resetBranch(context: EngineContext, { url, name, createdAt, accept, copy }: BranchReset) {
  const destination = url.database ?? '';
  await sweepBranches(context, url);
  const find = async (server: MysqlSession): Promise<MarkedBranch> => {
    const found = findBranch(await findBranches(server, destination), { name, url });
    if (found.createdAt !== createdAt) throw branchReplaced(name);
    return found;
  };
  const { database, mark, current } = await withServer(context, url, find);
  const tryInPlace = async (): Promise<InPlaceChanges | string> => {
    if (copy) return RESET_BY_COPY.wanted;
    return current ? RESET_BY_COPY.current : tryBranchInPlace(context, { url, database, accept, find });
  };
  const restored = startStep(context.report, `branch ${name}`, `Reset branch ${name}`);
  const inPlace = await tryInPlace();
  if (typeof inPlace !== 'string') {
    restored(`Reset branch ${name} in place: ${formatNumberOf(inPlace.tables.length, 'table')} changed`);
    return { swapMs: null, undoDatabase: null, inPlace };
  }
  const replaced = await copyToBranch(context, {
    // One that is the destination at present keeps an undo copy, as in any reset.
    ...{ url, database, undo: current, accept },
    async begin(server) {
      if ((await find(server)).database !== database) throw branchReplaced(name);
    },
    mark: { ...withoutSwitch(mark), reset_at: context.clock().toISOString() },
  });
  restored(`Reset branch ${name}, by a copy: ${inPlace}`);
  return { ...replaced, inPlace };
}
