import type { Branch, RestoredBranch } from '../../engines/facets/copies.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import type { Context } from '../../runtime/context.ts';
import { openSeparateBranch } from '../branch/open-branch.ts';
import type { ChosenDestination } from './configured-destination.ts';
import { chooseDestination, openDestination } from './destination.ts';
import type { BranchToCreate, LoadRequest } from './planned-load.ts';

export interface LoadPlace {
  database: Database;
  chosenBy: string;
  /** The branch that the database is, and its destination; `null` of the destination itself. */
  branch: {
    facts: Pick<Branch, 'name' | 'snapshot' | 'createdAt'>;
    of: string;
    creation?: RestoredBranch['creation'];
  } | null;
}

/** Opens what a load replaces: the destination, to which nothing is connected yet, or with `branch` a branch of it. `warned`: the plan has told what the choice warns of. */
export async function openLoadPlace(
  context: Context,
  request: Pick<LoadRequest, 'target' | 'destdb' | 'branch' | 'owner' | 'creates'>,
  { warned = false } = {},
): Promise<LoadPlace> {
  const choosing = warned ? { ...context, report: () => {} } : context;
  const { chosenBy, ...chosen } = chooseDestination(choosing, request);
  const { target, branch: name, owner } = request;
  if (name === undefined) return { database: openDestination(context, chosen), chosenBy, branch: null };
  if (request.creates) return toBeCreated(context, { ...chosen, chosenBy }, { name, creation: request.creates });
  const { database, branch, destination } = await openSeparateBranch(context, { target, branch: name, owner });
  return { database, chosenBy, branch: { facts: branch, of: destination.url.database ?? '' } };
}

function toBeCreated(
  context: Context,
  { chosenBy, ...chosen }: ChosenDestination,
  { name, creation }: { name: string; creation: BranchToCreate },
): LoadPlace {
  const { engine, url } = openDestination(context, chosen);
  const database = openDatabase(context, engine.withDatabase(url, creation.database));
  const facts = { name, snapshot: null, createdAt: creation.createdAt };
  return { database, chosenBy, branch: { facts, of: url.database ?? '', creation } };
}
