import type { EngineContext } from '../../engine-context.ts';
import type { BranchPlan, BranchPlanRequest } from '../../facets/branch.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { connectToServer } from '../connection/connect.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { findBaseCopies, prefersClones } from './base-copies.ts';
import { findBranches } from './list.ts';

/** Changes nothing. */
export async function planBranches(context: EngineContext, { url, copies }: BranchPlanRequest): Promise<BranchPlan> {
  const inspected = inspectDestination(context, url);
  inspected.catch(() => {});
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const { base } = await findBaseCopies(server, destination);
  const found = await findBranches(server, destination);
  const clones = base !== null && (await prefersClones(server, base.name));
  const facts = await inspected;
  // A clone that the file system refuses becomes a copy, which has its own check of the space.
  const branches = found.map(({ mark: _, ...branch }) => branch);
  const wanted = copies(branches);
  const counted = clones ? Math.min(wanted, 1) : wanted;
  const needsBytes = base?.sizeBytes == null ? null : base.sizeBytes * counted;
  if (base?.closed) assertEnoughSpace(facts, needsBytes ?? 0);
  return { destination: facts.destination, base, branches, clones, needsBytes };
}
