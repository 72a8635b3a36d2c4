import type { BranchPrunePlan, BranchPruneResult, BranchRow } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { formatAge } from '../../../text/format.ts';
import { type Checkout, readCheckout, readGitBranches } from '../../git.ts';
import { type KnownTree, listTrees, removeTreeRecord } from '../../link/memory.ts';
import { readTree } from '../../link/trees.ts';
import { sumOf } from '../../load/copies-result.ts';
import { keepsSpare } from '../../load/selection/choose-base.ts';
import type { Planned } from '../../planned.ts';
import { applyBranchDrop } from '../drop/drop.ts';
import { listBranches } from '../list/list.ts';
import { assertBranchesNotSources, openBranches } from '../open-branches.ts';

export interface BranchPruneRequest {
  /** Default: all targets. */
  target?: string | undefined;
  /** Removes branches unused for so many milliseconds; default: those whose git branch no longer exists. */
  unusedMs?: number | undefined;
}

export type PlannedBranchPrune = Planned<BranchPruneRequest, BranchPrunePlan>;

interface Rules {
  unusedMs: number | undefined;
  checkout: Checkout | null;
  gitBranches: Set<string> | null;
  /** The databases of working trees are those of their git branches. */
  followsBranches: boolean;
  trees: KnownTree[];
  now: Date;
}

/**
 * Plans the branches to remove: those whose git branch no longer exists in the repository of the current folder,
 * and those unused for long. Changes nothing.
 */
export async function planBranchPrune(context: Context, request: BranchPruneRequest): Promise<PlannedBranchPrune> {
  const { unusedMs } = request;
  const checkout = await readCheckout(context);
  const gitBranches = checkout && (await readGitBranches(context));
  const { branches, errors } = await listBranches(context, request);
  const mayExpire = branches.some(({ expires_at }) => expires_at !== null);
  if (unusedMs === undefined && gitBranches === null && !mayExpire) throw noRule();
  for (const { target, message } of errors) {
    context.report({ event: 'warning', code: 'branches_unknown', message: `Branches of "${target}": ${message}` });
  }
  const tree = await readTree(context);
  const trees = tree ? await listTrees(tree) : [];
  const rules = {
    ...{ unusedMs, checkout, gitBranches, trees, now: context.clock() },
    followsBranches: context.configuration.settings.branches.follow === 'branch',
  };
  const targets: BranchPrunePlan['targets'] = [];
  for (const target of new Set(branches.map((branch) => branch.target))) {
    const judged = branches
      .filter((branch) => branch.target === target)
      .map(({ target: _, ...branch }) => ({ branch, ...judge(branch, rules) }));
    const removed = judged.filter(({ remove }) => remove);
    const opened = await openBranches(context, { target });
    const databases = removed.map(({ branch }) => branch.database);
    const unverified_sources = databases.length > 0 ? await assertBranchesNotSources(opened, target, databases) : [];
    targets.push({
      target,
      destination: await opened.database.connect.inspect(),
      branches: removed.map(({ branch }) => branch),
      why: Object.fromEntries(removed.map(({ branch, why }) => [branch.name, why])),
      kept: judged.filter(({ remove }) => !remove).map(({ branch, why }) => ({ name: branch.name, why })),
      frees_bytes: sumOf(removed.map(({ branch }) => branch.own_bytes)),
      unverified_sources,
    });
  }
  const plan = { targets, frees_bytes: sumOf(targets.map(({ frees_bytes }) => frees_bytes)) };
  return { request, plan, planned_at: context.clock().toISOString() };
}

export async function applyBranchPrune(
  context: Context,
  { request, plan }: PlannedBranchPrune,
): Promise<BranchPruneResult> {
  const dropped: BranchPruneResult['dropped'] = [];
  for (const each of plan.targets) {
    if (each.branches.length === 0) continue;
    const { target } = each;
    const result = await applyBranchDrop(context, { request: { ...request, target }, plan: each });
    dropped.push(...result.dropped.map((branch) => ({ target, ...branch })));
    if (!keepsSpare(context.configuration, { target })) continue;
    const { database } = await openBranches(context, { target });
    await database.branches.replaceTakenSpare();
  }
  await removeOldRecords(context);
  return { dropped };
}

/** Removes the records of trees that are gone, with their branches. */
async function removeOldRecords(context: Context): Promise<void> {
  const tree = await readTree(context);
  const gone = tree ? (await listTrees(tree)).filter(({ present }) => present === null) : [];
  if (!tree || gone.length === 0) return;
  const { branches, errors } = await listBranches(context, {});
  if (errors.length > 0) return;
  const kept = new Set(branches.map(({ tree_token }) => tree_token));
  for (const { token } of gone) if (!kept.has(token)) await removeTreeRecord(tree, token);
}

function judge(
  branch: BranchRow,
  { unusedMs, checkout, gitBranches, followsBranches, trees, now }: Rules,
): { remove: boolean; why: string } {
  if (branch.current) return { remove: false, why: 'it is the destination at present' };
  if (branch.clients > 0) return { remove: false, why: 'it is in use' };
  if (branch.protected) return { remove: false, why: 'it is protected' };
  if (branch.tree !== null) return { remove: false, why: `it is that of the working tree ${branch.tree}` };
  if (branch.tree_token !== null) return judgeOfTree(branch, { trees, gitBranches, followsBranches });
  if (branch.expires_at !== null && Date.parse(branch.expires_at) <= now.getTime()) {
    return { remove: true, why: `it expired ${formatAge(now.getTime() - Date.parse(branch.expires_at))}` };
  }
  const isOfCheckout = branch.git_branch !== null && branch.repository === checkout?.repository;
  if (isOfCheckout && gitBranches && !gitBranches.has(branch.git_branch ?? '')) {
    return { remove: true, why: `git branch ${branch.git_branch} no longer exists` };
  }
  if (unusedMs !== undefined && branch.last_used_at === null) {
    return { remove: false, why: 'the server does not know when it was last used' };
  }
  const idle = branch.last_used_at === null ? 0 : now.getTime() - Date.parse(branch.last_used_at);
  if (unusedMs !== undefined && idle >= unusedMs) return { remove: true, why: `last used ${formatAge(idle)}` };
  return { remove: false, why: isOfCheckout ? `git branch ${branch.git_branch} exists` : 'no rule applies' };
}

/** A working tree may be in another copy of the repository, or on another machine: only one that is known to be gone counts. */
function judgeOfTree(
  { name, tree_token, git_branch }: BranchRow,
  { trees, gitBranches, followsBranches }: Pick<Rules, 'trees' | 'gitBranches' | 'followsBranches'>,
): { remove: boolean; why: string } {
  const tree = trees.find(({ token }) => token === tree_token);
  if (!tree) return { remove: false, why: 'it is that of a working tree elsewhere' };
  if (tree.present !== null) return { remove: false, why: `the working tree ${tree.present} has used it` };
  if (followsBranches && name === git_branch && gitBranches?.has(name)) {
    return { remove: false, why: `git branch ${name} exists` };
  }
  return { remove: true, why: `the working tree ${tree.folder} is gone` };
}

function noRule(): UserError {
  return new UserError('usage', 'There is no git repository here to compare branches with', {
    hint: 'Run it in the repository, or remove unused branches: tool branch prune --unused 14d',
  });
}
