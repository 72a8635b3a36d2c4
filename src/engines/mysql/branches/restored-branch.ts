import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { RestoredBranch } from '../../facets/copies.ts';
import type { RestoreRun } from '../../facets/restore.ts';
import { branchReplaced, databaseTaken, newBranchFacts } from '../../shared/branches.ts';
import { withServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { databaseExists, destinationName } from '../server/server.ts';
import { readMarkText } from '../swap/shadow-databases.ts';
import type { BranchSwap } from '../swap/swap.ts';
import { type BranchMark, branchMarkText, parseBranchMark, withoutSwitch } from './branch-mark.ts';
import { sweepBranches } from './sweep.ts';

export interface RestoredBranchSwap extends BranchSwap {
  /** Called under the lock: rejects where the database is no longer the branch. */
  begin: (server: MysqlSession) => Promise<void>;
}

/** Prepares the swap of a branch for its new content: its mark, with the snapshot that this is from. */
export async function restoredBranch(
  context: EngineContext,
  { url, branch }: Pick<RestoreRun, 'url'> & { branch: RestoredBranch },
): Promise<RestoredBranchSwap> {
  const { name, createdAt, snapshot, creation } = branch;
  if (creation) return newBranch(context, { url, branch, creation });
  const find = async (server: MysqlSession): Promise<BranchMark> => {
    const mark = parseBranchMark((await readMarkText(server, url.database ?? '')) ?? '');
    if (mark?.tool !== 'branch' || mark.name !== name || mark.created_at !== createdAt) throw branchReplaced(name);
    return mark;
  };
  const mark = await withServer(context, url, find);
  await sweepBranches(context, withDatabase(url, mark.of));
  return {
    of: mark.of,
    mark: branchMarkText({ ...withoutSwitch(mark), snapshot, reset_at: context.clock().toISOString() }),
    async begin(server) {
      if ((await find(server)).of !== mark.of) throw branchReplaced(name);
    },
  };
}

async function newBranch(
  context: EngineContext,
  given: { url: DatabaseUrl; branch: RestoredBranch; creation: NonNullable<RestoredBranch['creation']> },
): Promise<RestoredBranchSwap> {
  const { url, branch, creation } = given;
  const { name, createdAt, snapshot } = branch;
  const onlyNew = (): Error => databaseTaken(creation.database, name);
  await sweepBranches(context, withDatabase(url, branch.of));
  const of = await withServer(context, url, (server) => destinationName(server, branch.of));
  const facts = newBranchFacts({ ...creation, name, createdAt });
  return {
    ...{ of, onlyNew, mark: branchMarkText({ tool: 'branch', of, ...facts, snapshot, loaded_at: '' }) },
    async begin(server) {
      if (await databaseExists(server, creation.database)) throw onlyNew();
    },
  };
}
