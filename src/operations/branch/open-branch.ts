import type { Branch } from '../../engines/facets/copies.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import { findBranch } from '../../engines/shared/branches.ts';
import type { Context } from '../../runtime/context.ts';
import { assertNotCurrent, assertOwnBranches, openBranches } from './open-branches.ts';

export interface BranchOfRequest {
  target: string;
  branch: string;
  /** The agent that makes the request: its own branches only. */
  owner?: string | undefined;
}

export interface OpenedBranch {
  context: Context;
  database: Database;
  branch: Branch;
  destination: Database;
}

/** Finds a branch by its mark on the server. Refuses those of others to an agent. */
export async function openBranch(given: Context, request: BranchOfRequest): Promise<OpenedBranch> {
  const { target, branch: name } = request;
  const opened = await openBranches(given, { target });
  const { context, database } = opened;
  const { url, engine } = database;
  const branch = findBranch(await database.branches.list(), { name, url });
  assertOwnBranches([branch], request, opened);
  const own = openDatabase(context, engine.withDatabase(url, branch.database));
  return { context, database: own, branch, destination: database };
}

/** The same of one that has a name of its own: the destination has saves of its own. */
export async function openSeparateBranch(given: Context, request: BranchOfRequest): Promise<OpenedBranch> {
  const opened = await openBranch(given, request);
  assertNotCurrent([opened.branch], opened.database);
  return opened;
}
