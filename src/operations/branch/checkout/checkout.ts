import { resolve } from 'node:path';
import type { DatabaseUrl } from '../../../engines/database-url.ts';
import type { BranchPlan } from '../../../engines/facets/branch.ts';
import type { Branch } from '../../../engines/facets/copies.ts';
import type { BranchCheckoutPlan, BranchCheckoutResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import { isRebasing, noRepository, readCheckoutHead, readMainBranch } from '../../git.ts';
import { isFirstTree, readLink } from '../../link/memory.ts';
import { treeOf } from '../../link/trees.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { applyUndo, planUndo } from '../../undo/undo.ts';
import { applyBranchCreate, type PlannedBranches, planBranchCreate } from '../create/create.ts';
import { type BranchesRequest, type OpenedBranches, openBranches } from '../open-branches.ts';
import { applyBranchSwitch, planBranchSwitch } from '../switch/switch.ts';
import { chooseForTree, type LinkedTree, needsBranch, writeForTree } from './tree.ts';

export interface BranchCheckoutRequest extends BranchesRequest {
  /** The git branch of the database of before the first switch; default: that of the remote, `main` or `master`. */
  main?: string | undefined;
  /** The URL without password of the only destination that may be switched, and only if it has copies of this program. */
  onlyDestination?: string | undefined;
  /** A folder of the working tree, for the git hook; default: the current folder. */
  tree?: string | undefined;
}

export interface PlannedBranchCheckout extends Planned<BranchCheckoutRequest, BranchCheckoutPlan> {
  create: PlannedBranches | null;
  /** The plan of the branch of a new working tree. */
  found: BranchPlan | null;
}

/** Plans how the destination follows the git branch of the current folder. Changes nothing. */
export async function planBranchCheckout(
  given: Context,
  request: BranchCheckoutRequest,
): Promise<PlannedBranchCheckout> {
  const { target } = request;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const linked = await findLinked(context, request);
  const isLinked = linked !== null && linked !== 'none';
  const own = isLinked ? { ...request, onlyDestination: linked.link.destination } : request;
  assertSameDestination(opened, own);
  const git = isLinked ? ofTree(linked) : await checkedOut(context, request);
  const unread: BranchCheckoutPlan = {
    ...{ target, destination: null, git_branch: git.branch, action: 'none', why: git.why, previous: null },
    ...{ creates: false, tree: null, unverified_sources: [], steps: [], warnings: [] },
  };
  const planned = { request, planned_at: context.clock().toISOString(), create: null, found: null };
  const none = whyNothing(context, linked);
  if (none !== null) return { ...planned, plan: { ...unread, why: none } };
  const isNewTree = isLinked && (await needsBranch(opened, linked));
  // Changes nothing, and finds all with the fewest connections.
  const found = await database.branches.plan(() => (isNewTree ? 1 : 0));
  const { destination, base, branches } = found;
  // A branch of a tree is another database: nothing is switched.
  if (!isLinked && own.onlyDestination !== undefined && base === null && branches.length === 0)
    throw notMarked(target, database.url);
  const chosen = isLinked ? await chooseForTree(opened, request, { ...linked, branches }) : null;
  const plan = { ...unread, destination };
  if (chosen) return { ...planned, found: isNewTree ? found : null, plan: { ...plan, ...chosen } };
  if (git.why !== null || git.branch === null) return { ...planned, plan };
  const previous = currentOf(branches)?.name ?? null;
  if (previous === (git.isMain ? null : git.branch)) {
    return {
      ...planned,
      plan: { ...plan, previous, why: `${destination.database} is that of git branch ${git.branch}` },
    };
  }
  if (git.isMain) {
    const { unverified_sources } = await planRestore(opened, request);
    const steps = [`Switch ${destination.database} to the database of before the first switch`];
    return { ...planned, plan: { ...plan, action: 'restore', previous, unverified_sources, steps } };
  }
  const { tree: _, ...common } = request;
  const create = await planBranchCreate(context, { ...common, name: git.branch, reuse: true });
  const { steps, warnings, unverified_sources } = create.plan;
  return {
    ...{ ...planned, create },
    plan: {
      ...{
        ...plan,
        action: 'switch',
        previous,
        creates: create.plan.branches.length > 0,
        warnings,
        unverified_sources,
      },
      steps: [...steps, `Switch ${destination.database} to branch ${git.branch}`],
    },
  };
}

/** Steps: those of `branch create`, `branch switch` and `undo`. */
export async function applyBranchCheckout(
  given: Context,
  { request, plan, create, found }: PlannedBranchCheckout,
): Promise<BranchCheckoutResult> {
  const { target, git_branch, action, why } = plan;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const tree = plan.tree;
  const result = {
    ...{ target, git_branch, action, why, tree },
    destination: database.url.display,
    created: plan.creates,
  };
  if (action === 'none') return result;
  if (action === 'tree') {
    const linked = await findLinked(context, request);
    if (!linked || linked === 'none') throw planOutdated('The link has changed');
    if (linked.gitBranch !== git_branch) throw planOutdated('The git branch has changed');
    return { ...result, tree: await writeForTree(opened, request, { ...linked, found }) };
  }
  if ((await checkedOut(context, request)).branch !== git_branch) throw planOutdated('The git branch has changed');
  if (action === 'restore') {
    await restore(opened, request);
    return result;
  }
  if (create) await applyBranchCreate(context, create);
  // The destination of before the first switch stays the undo copy.
  if (plan.previous !== null) await restore(opened, request).catch(unlessWithoutOriginal);
  const switching = await planBranchSwitch(context, { ...request, name: git_branch ?? '' });
  await applyBranchSwitch(context, switching);
  return result;
}

/** A working tree with a database of its own follows, whatever git does in it. */
function ofTree({ gitBranch }: LinkedTree): CheckedOut {
  return { branch: gitBranch, isMain: false, why: null };
}

const NOT_LINKED = 'the repository is not linked to the target (tool link)';
const MAIN_KEEPS = 'the main working tree keeps its database (branches.follow)';

/** Returns why no database is even looked at; `null` otherwise. */
function whyNothing({ configuration }: Context, linked: LinkedTree | 'none' | null): string | null {
  if (linked === null) return null;
  if (linked === 'none') return NOT_LINKED;
  if (isFirstTree(linked.tree, linked.link)) return MAIN_KEEPS;
  return configuration.settings.branches.follow === 'off' ? 'branches.follow is off' : null;
}

/**
 * The working tree with the link of the target; `null` where the destination follows the git branch itself. A hook that
 * a removed link has left switches nothing: `none`.
 */
async function findLinked(context: Context, { target, tree: folder, onlyDestination }: BranchCheckoutRequest) {
  const place = placeOf(context, folder);
  const checkout = await readCheckoutHead(place);
  const tree = checkout && (await treeOf(place, checkout));
  const link = tree && (await readLink(tree, context));
  if (link?.target !== target || tree === null) return folder === undefined ? null : 'none';
  if (onlyDestination !== undefined && link.destination !== onlyDestination) throw planOutdated('The link has changed');
  // By hand, and with the git branch, the destination itself is switched.
  if (isFirstTree(tree, link) && (folder === undefined || context.configuration.settings.branches.follow === 'branch'))
    return null;
  return { tree, link, gitBranch: checkout?.branch ?? null };
}

function placeOf(context: Context, tree: string | undefined): Context {
  return tree === undefined ? context : { ...context, cwd: resolve(context.cwd ?? '', tree) };
}

/** Before a connection to another destination than the one that was there when the hook was installed. */
function assertSameDestination(
  { database: { url } }: OpenedBranches,
  { target, onlyDestination }: BranchCheckoutRequest,
): void {
  if (onlyDestination === undefined || url.display === onlyDestination) return;
  throw destinationChanged({ target, url, onlyDestination });
}

/** Reports whether the server has a base copy or branches of the destination with the mark of this program. */
export async function hasCopies({ database: { url, restore } }: OpenedBranches): Promise<boolean> {
  const [copies] = await restore.findAllCopies([url]);
  return copies !== undefined && (copies.base !== null || copies.branches.length > 0);
}

interface ChangedDestination {
  target: string;
  url: DatabaseUrl;
  onlyDestination: string;
}

function destinationChanged({ target, url, onlyDestination }: ChangedDestination): UserError {
  return new UserError(
    'hook_destination_changed',
    `The destination of "${target}" is ${url.display}, and the hook may switch ${onlyDestination} only`,
    { hint: `If the new destination is right, install the hook again: ${shell`tool branch hook ${target}`}` },
  );
}

function notMarked(target: string, url: DatabaseUrl): UserError {
  return new UserError('hook_destination_foreign', `${url.display} has no base copy and no branches of this program`, {
    hint: `Switch it once yourself: ${shell`tool branch checkout ${target}`}`,
  });
}

interface CheckedOut {
  branch: string | null;
  isMain: boolean;
  /** Why the destination does not follow. */
  why: string | null;
}

async function checkedOut(given: Context, { main, tree }: BranchCheckoutRequest): Promise<CheckedOut> {
  const context = placeOf(given, tree);
  const checkout = await readCheckoutHead(context);
  if (!checkout) throw await noRepository(context);
  const { branch } = checkout;
  if (branch === null) return { branch, isMain: false, why: 'no git branch is checked out' };
  if (await isRebasing(context)) return { branch, isMain: false, why: 'a rebase is in progress' };
  return { branch, isMain: branch === (main ?? (await readMainBranch(context))), why: null };
}

function currentOf(branches: Branch[]): Branch | undefined {
  return branches.find(({ current }) => current);
}

/** Refuses where the undo would lead to another branch. */
async function planRestore({ context, database }: OpenedBranches, request: BranchesRequest) {
  const { target, destdb } = request;
  const undo = await planUndo(context, { target, ...(destdb !== undefined && { destdb }) });
  const branches = await database.branches.list();
  // The undo copy has rows of some tables only.
  if (undo.plan.tables || branches.some(({ database }) => database === undo.plan.undo_database))
    throw noOriginal(target);
  return { undo, unverified_sources: undo.plan.unverified_sources };
}

/** Makes the database of before the first switch the destination again. */
async function restore(opened: OpenedBranches, request: BranchesRequest): Promise<void> {
  const { context, database } = opened;
  await applyUndo(context, (await planRestore(opened, request)).undo);
  if (!currentOf(await database.branches.list())) return;
  // The undo copy was of the branch itself.
  await applyUndo(context, (await planRestore(opened, request)).undo);
  throw noOriginal(request.target);
}

/** From one branch to the next directly, where the database of before is gone. */
function unlessWithoutOriginal(thrown: unknown): void {
  if (!(thrown instanceof UserError) || !['branch_without_original', 'nothing_to_undo'].includes(thrown.code))
    throw thrown;
}

function noOriginal(target: string): UserError {
  return new UserError(
    'branch_without_original',
    `The database of "${target}" of before the first switch is not the undo copy`,
    {
      hint: `Switch to another branch (${shell`tool branch switch ${target} NAME`}), or load a snapshot: ${shell`tool load ${target}`}`,
    },
  );
}
