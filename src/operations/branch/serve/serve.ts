import type { DatabaseUrl } from '../../../engines/database-url.ts';
import type { OpenBranchReset } from '../../../engines/facets/branch.ts';
import type { BaseCopy, Branch } from '../../../engines/facets/copies.ts';
import { closedBase } from '../../../engines/shared/base-copies.ts';
import { branchReplaced, findBranch } from '../../../engines/shared/branches.ts';
import { createStaging, stagingRoot } from '../../../repository/staging.ts';
import type { BranchResetPlan, BranchServePlan, BranchServeResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { createSemaphore } from '../../../runtime/semaphore.ts';
import { assertBaseOfTarget } from '../../back/last-load.ts';
import { cpusFor } from '../../cpus-for.ts';
import { toDatabaseCopy } from '../../load/copies-result.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { assertNoOriginalData } from '../../snapshots/sanitized-only.ts';
import { isNumbered } from '../branch-database.ts';
import {
  assertBranchesNotSources,
  assertNotCurrent,
  assertPlanCurrent,
  assertUnprotected,
  type BranchesRequest,
  branchRows,
  openBranches,
} from '../open-branches.ts';
import { applyBranchReset, planBranchReset } from '../reset/reset.ts';
import { listenForResets, type ServedReset } from './reset-server.ts';

export interface BranchServeRequest extends BranchesRequest {
  /** A branch, and the `NAME_1`, `NAME_2`, … that `--count` has made. */
  name: string;
  /** Listens on a free port of the loopback interface; default: a socket. */
  tcp?: boolean;
}

export type PlannedBranchServe = Planned<BranchServeRequest, BranchServePlan>;

/** Changes nothing. Throws where there is no base copy. */
export async function planBranchServe(given: Context, request: BranchServeRequest): Promise<PlannedBranchServe> {
  const { target, name } = request;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const { url } = database;
  const served = (branch: Branch): boolean => branch.name === name || isNumbered(branch.name, name);
  const found = await database.branches.plan(() => 0);
  const base = closedBase(found, url);
  await assertBaseOfTarget(context, { target, url, snapshot: base.snapshot });
  await assertNoOriginalData(context, target, base.snapshot);
  const named = found.branches.filter(served);
  const branches = named.length > 0 ? named : [findBranch(found.branches, { name, url })];
  assertUnprotected(branches, {});
  assertNotCurrent(branches, database);
  assertOfBase(branches);
  const databases = branches.map((branch) => branch.database);
  const plan: BranchServePlan = {
    target,
    destination: found.destination,
    base: toDatabaseCopy(base),
    branches: await branchRows(opened, branches),
    unverified_sources: await assertBranchesNotSources(opened, target, databases),
    steps: branches.map((branch) => `Reset ${branch.database} at each POST ${pathOf(branch.name, name)}`),
  };
  return { request, plan, planned_at: context.clock().toISOString() };
}

function assertOfBase(branches: Branch[]): void {
  const found = branches.find(({ origin }) => origin);
  if (!found) return;
  const message = `Branch "${found.name}" was created from branch "${found.origin?.branch}", not from the base copy`;
  throw new UserError('no_base_copy', message, { hint: 'Reset it by itself: tool branch reset TARGET NAME' });
}

function pathOf(branch: string, name: string): string {
  return branch === name ? '/reset' : `/reset/${branch.slice(name.length + 1)}`;
}

/** Answers requests until the signal ends it. Steps: `branch NAME`, of a reset by copy. */
export async function applyBranchServe(given: Context, planned: PlannedBranchServe): Promise<BranchServeResult> {
  const { request, plan } = planned;
  const { target, name } = request;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  assertPlanCurrent(opened, plan, { planned: plan.branches, present: await database.branches.list() });
  const counts = { in_place: 0, by_copy: 0 };
  const inTurn = createSemaphore(cpusFor(context, target));
  await using open = new AsyncDisposableStack();
  const resets = new Map<string, { branch: string; reset: () => Promise<ServedReset> }>();
  for (const { name: branch, created_at } of plan.branches) {
    const kept = open.use(await database.branches.keepOpen(branch));
    const known = { url: database.url, createdAt: created_at, base: plan.base };
    const reset = async (): Promise<ServedReset> => {
      const done = await inTurn(() => resetBranch(context, { request, branch, kept, known }));
      counts[done.way === 'in_place' ? 'in_place' : 'by_copy'] += 1;
      return done;
    };
    resets.set(pathOf(branch, name), { branch, reset });
  }
  const staging = open.use(await createStaging(stagingRoot(context.configuration.settings.working_directory)));
  const server = open.use(
    await listenForResets(context, {
      resets,
      socket: request.tcp ? null : staging.path('s'),
    }),
  );
  const branches = [...resets].map(([path, { branch }]) => ({ branch, path }));
  context.report({ event: 'serving', ...server.address, branches });
  await server.ended;
  return { target, ...counts };
}

interface OneReset {
  request: BranchServeRequest;
  branch: string;
  kept: OpenBranchReset;
  /** The guards have accepted this, until a reset by copy checks all of it again. */
  known: { url: DatabaseUrl; createdAt: string; base: BranchResetPlan['base'] };
}

/** In place over open connections, or else as the command resets it. */
async function resetBranch(context: Context, { request, branch, kept, known }: OneReset): Promise<ServedReset> {
  const accept = ({ snapshot, loadedAt }: BaseCopy): void => {
    if (snapshot === known.base?.snapshot && loadedAt === known.base.loaded_at) return;
    throw planOutdated('The base copy was replaced');
  };
  const why = await kept.reset({ createdAt: known.createdAt, accept }).catch((error) => {
    if (error instanceof UserError && error.code === 'plan_outdated') return error.message;
    throw error;
  });
  if (typeof why !== 'string') return { branch, way: 'in_place', way_reason: null };
  const { target, destdb } = request;
  const planned = await planBranchReset(context, { target, destdb, name: branch });
  const { branches, base } = planned.plan;
  if (branches[0]?.created_at !== known.createdAt) throw branchReplaced(branch);
  assertNotCurrent(branches, known);
  const result = await applyBranchReset(context, planned);
  known.base = base;
  const [done] = result.branches;
  return { branch, way: done?.way === 'in_place' ? 'in_place' : 'copy', way_reason: done?.way_reason ?? why };
}
