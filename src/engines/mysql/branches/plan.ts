import type { EngineContext } from '../../engine-context.ts';
import type { BranchPlan, BranchPlanRequest } from '../../facets/branch.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { connectToServer } from '../connection/connect.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { findBaseCopies } from './base/base-copies.ts';
import { findBranches } from './list.ts';

/** Changes nothing. */
export async function planBranches(context: EngineContext, { url, copies }: BranchPlanRequest): Promise<BranchPlan> {
  const facts = await inspectDestination(context, url);
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const { base } = await findBaseCopies(server, destination);
  const found = await findBranches(server, destination);
  const branches = found.map(({ mark: _, ...branch }) => branch);
  const needsBytes = base?.sizeBytes == null ? null : base.sizeBytes * copies(branches);
  if (base?.closed) assertEnoughSpace(facts, needsBytes ?? 0);
  return { destination: facts.destination, base, branches, clones: false, needsBytes };
}
