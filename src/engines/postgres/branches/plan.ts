import type { BranchPlan, DatabaseUrl, EngineContext } from '../../engine.ts';
import { refuseShortSpace } from '../../shared/server/free-space.ts';
import { connectToServer } from '../connection/connect.ts';
import { asksForClones, findBaseCopies } from '../restore/base.ts';
import { inspectDestination } from '../restore/preflight.ts';
import { findBranches } from './list.ts';

/** Changes nothing. */
export async function planBranches(
  context: EngineContext,
  { url, copies }: { url: DatabaseUrl; copies: number },
): Promise<BranchPlan> {
  const facts = await inspectDestination(context, url);
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const { base } = await findBaseCopies(server, destination);
  const found = await findBranches(server, destination);
  const clones = base !== null && (await asksForClones(server, base.name));
  // A clone that the file system refuses becomes a copy, which has its own check of the space.
  const counted = clones ? Math.min(copies, 1) : copies;
  if (base?.closed) refuseShortSpace(facts, counted * (base.sizeBytes ?? 0));
  const branches = found.map(({ mark: _, ...branch }) => branch);
  return { destination: facts.destination, base, branches, clones };
}
