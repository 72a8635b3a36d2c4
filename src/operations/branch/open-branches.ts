import { isDeepStrictEqual } from 'node:util';
import type { Engine } from '../../engines/engine.ts';
import type { BranchPlan } from '../../engines/facets/branch.ts';
import type { Branch } from '../../engines/facets/copies.ts';
import type { Database } from '../../engines/open-database.ts';
import { branchIsCurrent, branchProtected } from '../../engines/shared/branches.ts';
import type { BranchRow } from '../../results/branch-results.ts';
import type { DestinationState } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError, withOutcome } from '../../runtime/errors.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { shell } from '../../text/shell-word.ts';
import { type KnownTree, listTrees } from '../link/memory.ts';
import { findTree } from '../link/trees.ts';
import { findDestinationUrl } from '../load/configured-destination.ts';
import { assertSameDestination, chooseDestination, openDestination } from '../load/destination.ts';
import { assertNotASource, createAddressComparison } from '../load/guard/guard.ts';
import { whyNoBase } from '../load/selection/choose-base.ts';
import { planOutdated } from '../planned.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { lastUses } from './last-use.ts';

export interface BranchesRequest {
  target: string;
  /** Connection URL that wins over every configured destination. */
  destdb?: string | undefined;
  /** The agent that makes the request: it changes its own branches only, and creates branches as its own. */
  owner?: string | undefined;
}

export interface OpenedBranches {
  context: Context;
  /** The destination. */
  database: Database;
}

/** The destination of a target, on an engine with branches; nothing is connected yet. */
export async function openBranches(given: Context, request: BranchesRequest): Promise<OpenedBranches> {
  const context = await withTargetUrls(given, request.target, { source: false });
  return { context, database: openDestination(context, chooseDestination(context, request)) };
}

/** Databases of one command that are compared with the sources at once. */
const COMPARED_AT_ONCE = 4;

/**
 * Refuses a destination or a branch that is the source of any target. Resolves with the targets whose sources could not
 * be compared, where the user has declared them other databases. The destination is compared before the names are known.
 */
export async function assertBranchesNotSources(
  { context, database: { engine, url } }: OpenedBranches,
  target: string,
  databases: string[] | Promise<string[]>,
): Promise<string[]> {
  const allowedBy: string[] = [];
  const comparing = Promise.resolve(databases).then((names) => {
    const others = names.filter((database) => database !== url.database);
    return mapWithConcurrency(others, COMPARED_AT_ONCE, (database) =>
      assertNotASource({ ...context, report: () => {} }, engine.withDatabase(url, database)),
    );
  });
  // The refusal of the destination comes first.
  comparing.catch(() => {});
  const unverified = await assertNotASource(context, url, { target, allowedBy });
  const why = whyNoBase(allowedBy.at(-1));
  if (why) throw noBranches(target, why);
  return [...new Set([unverified, ...(await comparing)].flat())];
}

/** Refuses the name of a database that a target loads into. */
export async function assertNotADestination(
  { context, database: { engine, url } }: OpenedBranches,
  databases: string[],
): Promise<void> {
  const { configuration } = context;
  for (const name of Object.keys(configuration.settings.targets)) {
    const destination = findDestinationUrl(configuration, name);
    if (!destination || destination.engine !== url.engine) continue;
    for (const database of databases) {
      const same = createAddressComparison(context, engine.withDatabase(url, database));
      if (await same(destination)) throw isDestination(database, name);
    }
  }
}

/** Returns the rows of the JSON output, with the last known uses. */
export async function branchRows(
  { context, database: { engine, url } }: OpenedBranches,
  branches: Branch[],
): Promise<BranchRow[]> {
  const [used, trees] = await Promise.all([lastUses(context, { url, branches }), treesOf(context)]);
  return branches.map((branch) => ({
    name: branch.name,
    database: branch.database,
    url: engine.withDatabase(url, branch.database).display,
    current: branch.current,
    created_at: branch.createdAt,
    reset_at: branch.resetAt,
    last_used_at: used.get(branch.name) ?? null,
    clients: branch.clients,
    size_bytes: branch.sizeBytes,
    own_bytes: branch.ownBytes,
    snapshot: branch.snapshot,
    repository: branch.repository,
    git_branch: branch.gitBranch,
    tree: trees.find((tree) => tree.branch === branch.name && tree.present !== null)?.present ?? null,
    tree_token: branch.tree ?? null,
    expires_at: branch.expiresAt ?? null,
    protected: branch.isProtected ?? false,
    owner: branch.owner ?? null,
    origin: branch.origin ?? null,
  }));
}

/** The linked working trees of the current repository. */
async function treesOf(context: Context): Promise<KnownTree[]> {
  const tree = context.cwd === undefined ? null : await findTree(context.cwd).catch(() => null);
  return tree ? listTrees(tree).catch(() => []) : [];
}

/** Refuses protected branches, unless the user has said otherwise. */
export function assertUnprotected(
  branches: Branch[],
  { unprotect = false }: { unprotect?: boolean | undefined },
): void {
  const found = branches.find(({ isProtected }) => isProtected);
  if (!found || unprotect) return;
  throw branchProtected(found.name);
}

/** Refuses branches of others, and one that has the destination's name: resetting it would replace the destination. */
export function assertOwnBranches(branches: Branch[], { owner }: BranchesRequest, { database }: OpenedBranches): void {
  if (owner === undefined) return;
  const foreign = branches.find((branch) => branch.owner !== owner);
  if (foreign) throw notOwn(foreign.name, owner);
  assertNotCurrent(branches, database);
}

/** Refuses the branch that has the destination's name at present. */
export function assertNotCurrent(branches: Pick<Branch, 'name' | 'current'>[], { url }: Pick<Database, 'url'>): void {
  const found = branches.find(({ current }) => current);
  if (found) throw branchIsCurrent(found.name, url);
}

/** Describes the cost of a copy, as the end of a step. */
export function copiedHow({ capabilities }: Engine, { clones }: Pick<BranchPlan, 'clones'>): string {
  if (clones) return ': clone its files, or copy them if the file system cannot';
  return capabilities.branchesCopiedBy === 'files' ? '' : ': copy all rows, build all indexes';
}

/** Refuses a plan of another destination than the configuration leads to by now, or of branches that have changed. */
export function assertPlanCurrent(
  { database: { url } }: OpenedBranches,
  { destination }: { destination: DestinationState },
  { planned, present }: { planned: BranchRow[]; present: Branch[] },
): void {
  assertSameDestination(url, destination);
  const now = new Map(present.map((branch) => [branch.name, branch]));
  for (const { name, database, created_at, reset_at } of planned) {
    const branch = now.get(name);
    const found = branch && { database: branch.database, created_at: branch.createdAt, reset_at: branch.resetAt };
    if (!isDeepStrictEqual(found, { database, created_at, reset_at })) {
      throw planOutdated(`Branch "${name}" has changed`);
    }
  }
}

function notOwn(name: string, owner: string): UserError {
  return new UserError('branch_not_own', `Branch "${name}" was not created by ${owner}`, {
    hint: 'Create a branch with another name, and use that one. Other branches are for the people who created them.',
  });
}

export function noBranches(target: string, why: string): UserError {
  return new UserError('branches_unsupported', `Target "${target}" can have no branches: ${why}`, {
    hint: `Load into the destination instead: ${shell`tool load ${target}`}`,
  });
}

function isDestination(database: string, target: string): UserError {
  return new UserError('database_name_taken', `The database "${database}" is the destination of target "${target}"`, {
    hint: 'Choose another name for the branch.',
  });
}

interface EachBranch {
  /** Past tense of the work: `Created`. */
  done: string;
  atOnce: number;
}

/** Does the work for each branch; after a failure, a warning names the completed branches. */
export async function forEachBranch<Branch extends { name: string }, Result>(
  { report }: Context,
  branches: Branch[],
  { done, atOnce, work }: EachBranch & { work: (branch: Branch) => Promise<Result> },
): Promise<Result[]> {
  const names: string[] = [];
  try {
    return await mapWithConcurrency(branches, atOnce, async (branch) => {
      const result = await work(branch);
      names.push(branch.name);
      return result;
    });
  } catch (error) {
    const message = `${done} before the failure: ${names.join(', ')}`;
    if (names.length > 0) report({ event: 'warning', code: 'branches_in_part', message });
    throw withOutcome(
      error,
      `Each branch is as before, or ${done.toLowerCase()} as a whole. To list them: tool branch list`,
    );
  }
}
