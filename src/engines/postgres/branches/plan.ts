import type { EngineContext } from '../../engine-context.ts';
import type { BranchPlan, BranchPlanRequest } from '../../facets/branch.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { connectToServer } from '../connection/connect.ts';
import { openForInspection } from '../restore/inspect-destination.ts';
import { findBaseCopies, prefersClones } from './base-copies.ts';
import { findBranches } from './list.ts';

/** Changes nothing. */
export async function planBranches(context: EngineContext, { url, copies }: BranchPlanRequest): Promise<BranchPlan> {
  const destination = url.database ?? '';
  await using opened = await openForInspection(context, url);
  const { facts } = opened;
  await using other = opened.isOwn ? await connectToServer(context, url) : null;
  const server = other ?? opened.session;
  const { base } = await findBaseCopies(server, destination);
  const found = await findBranches(server, destination);
  const clones = base !== null && (await prefersClones(server, base.name));
  // A clone that the file system refuses becomes a copy, which has its own check of the space.
  const branches = found.map(({ mark: _, ...branch }) => branch);
  const wanted = copies(branches);
  const counted = clones ? Math.min(wanted, 1) : wanted;
  const needsBytes = base?.sizeBytes == null ? null : base.sizeBytes * counted;
  if (base?.closed) assertEnoughSpace(facts, needsBytes ?? 0);
  return { destination: facts.destination, base, branches, clones, needsBytes };
}
