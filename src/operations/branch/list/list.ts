import type { BranchList, TargetBranch } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { toUserError } from '../../../runtime/errors.ts';
import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { findDestinationUrl } from '../../load/configured-destination.ts';
import { type BranchesRequest, branchRows, openBranches } from '../open-branches.ts';

const SERVERS_AT_ONCE = 4;

export async function listBranches(
  context: Context,
  { target, destdb }: { target?: string | undefined; destdb?: string | undefined },
): Promise<BranchList> {
  if (target !== undefined) return { branches: await branchesOf(context, { target, destdb }), errors: [] };
  const { configuration } = context;
  const names = Object.keys(configuration.settings.targets).filter((name) => findDestinationUrl(configuration, name));
  const lists = await mapWithConcurrency(names, SERVERS_AT_ONCE, async (name) => {
    try {
      return { branches: await branchesOf(context, { target: name }), errors: [] };
    } catch (thrown) {
      context.signal.throwIfAborted();
      return { branches: [], errors: [{ target: name, message: toUserError(thrown).message }] };
    }
  });
  return { branches: lists.flatMap(({ branches }) => branches), errors: lists.flatMap(({ errors }) => errors) };
}

async function branchesOf(context: Context, request: BranchesRequest): Promise<TargetBranch[]> {
  const opened = await openBranches(context, request);
  const branches = await opened.database.branches.list();
  return (await branchRows(opened, branches)).map((row) => ({ target: request.target, ...row }));
}
