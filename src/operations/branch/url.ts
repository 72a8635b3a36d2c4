import { findBranch } from '../../engines/shared/branches.ts';
import type { BranchUrl } from '../../results/branch-results.ts';
import type { Context } from '../../runtime/context.ts';
import { assertNoOriginalData } from '../snapshots/sanitized-only.ts';
import { assertOwnBranches, type BranchesRequest, openBranches } from './open-branches.ts';

export interface BranchUrlRequest extends BranchesRequest {
  name: string;
  password: boolean;
}

export async function branchUrl(given: Context, request: BranchUrlRequest): Promise<BranchUrl> {
  const { target, name, password } = request;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const { engine, url } = database;
  const branch = findBranch(await database.branches.list(), { name, url });
  assertOwnBranches([branch], request, opened);
  await assertNoOriginalData(context, target, branch.snapshot);
  const found = engine.withDatabase(url, branch.database);
  const text = password ? engine.urlWithPassword(found) : found.display;
  return { target, name, database: branch.database, url: text, password };
}
