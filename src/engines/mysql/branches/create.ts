import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchCreation } from '../../facets/branch.ts';
import { branchExists, databaseTaken, newBranchFacts } from '../../shared/branches.ts';
import { withServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { databaseExists } from '../server/server.ts';
import { copyToBranch } from './copy.ts';
import { findBranches } from './list.ts';
import { sweepBranches } from './sweep.ts';

/** A branch gets its tables and its mark in one statement, after the copy. The copy is most of the work. */
export function createBranch(context: EngineContext, creation: BranchCreation): Promise<void> {
  return creation.inTurn(() => create(context, creation));
}

async function create(context: EngineContext, creation: BranchCreation): Promise<void> {
  const { url, name, database, accept, mayTakeSpare } = creation;
  const made = startStep(context.report, `branch ${name}`, `Create branch ${name} as ${database}`);
  await sweepBranches(context, url);
  const assertNameFree = async (server: MysqlSession): Promise<void> => {
    if ((await findBranches(server, url.database ?? '')).some((each) => each.name === name)) throw branchExists(name);
    if (await databaseExists(server, database)) throw databaseTaken(database, name);
  };
  await withServer(context, url, assertNameFree);
  await copyToBranch(context, {
    ...{ url, database, accept, mayTakeSpare, begin: assertNameFree },
    mark: newBranchFacts({ ...creation, createdAt: context.clock().toISOString() }),
    onlyNew: () => databaseTaken(database, name),
  });
  made(`Created branch ${name} as ${database}`);
}
