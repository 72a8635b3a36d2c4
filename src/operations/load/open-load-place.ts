import type { Branch } from '../../engines/facets/copies.ts';
import type { Database } from '../../engines/open-database.ts';
import type { Context } from '../../runtime/context.ts';
import { openSeparateBranch } from '../branch/open-branch.ts';
import { chooseDestination, openDestination } from './destination.ts';
import type { LoadRequest } from './planned-load.ts';

export interface LoadPlace {
  database: Database;
  chosenBy: string;
  /** The branch that the database is, and its destination; `null` of the destination itself. */
  branch: { facts: Branch; of: string } | null;
}

/** Opens what a load replaces: the destination, to which nothing is connected yet, or with `branch` a branch of it. `warned`: the plan has told what the choice warns of. */
export async function openLoadPlace(
  context: Context,
  request: Pick<LoadRequest, 'target' | 'destdb' | 'branch' | 'owner'>,
  { warned = false } = {},
): Promise<LoadPlace> {
  const choosing = warned ? { ...context, report: () => {} } : context;
  const { chosenBy, ...chosen } = chooseDestination(choosing, request);
  const { target, branch: name, owner } = request;
  if (name === undefined) return { database: openDestination(context, chosen), chosenBy, branch: null };
  const { database, branch, destination } = await openSeparateBranch(context, { target, branch: name, owner });
  return { database, chosenBy, branch: { facts: branch, of: destination.url.database ?? '' } };
}
