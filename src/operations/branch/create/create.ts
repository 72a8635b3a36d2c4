import type { BranchPlan } from '../../../engines/facets/branch.ts';
import type { Branch } from '../../../engines/facets/copies.ts';
import { profileOf } from '../../../engines/list.ts';
import { branchExists } from '../../../engines/shared/branches.ts';
import type { BranchCreatePlan, BranchCreateResult, BranchDatabase } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { createSemaphore } from '../../../runtime/semaphore.ts';
import { parseDuration } from '../../../text/duration.ts';
import { assertBaseOfTarget } from '../../back/last-load.ts';
import { cpusFor } from '../../cpus-for.ts';
import { type Checkout, readCheckout } from '../../git.ts';
import { recorded } from '../../history/recorded.ts';
import { toDatabaseCopy } from '../../load/copies-result.ts';
import { assertSameDestination } from '../../load/destination.ts';
import { applyLoad, planLoad } from '../../load/load.ts';
import type { PlannedLoad } from '../../load/planned-load.ts';
import { restoredBy } from '../../load/restored-by.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { assertNoOriginalData } from '../../snapshots/sanitized-only.ts';
import { findTarget } from '../../targets/find-target.ts';
import { branchDatabase, branchNames } from '../branch-database.ts';
import {
  assertBranchesNotSources,
  assertNotADestination,
  assertPlanCurrent,
  type BranchesRequest,
  branchRows,
  copiedHow,
  forEachBranch,
  type OpenedBranches,
  openBranches,
} from '../open-branches.ts';
import { createFromBranch, type PlannedOrigin, prepareOrigin } from './from-branch.ts';

export interface BranchCreateRequest extends BranchesRequest {
  name: string;
  /** Makes `name_1` to `name_COUNT`. */
  count?: number | undefined;
  /** Leaves branches that exist as they are; otherwise they are refused. */
  reuse?: boolean | undefined;
  /** Returns URLs with passwords, as environment variables. */
  env?: boolean | undefined;
  /** Milliseconds until `branch prune` removes it. */
  expiresMs?: number | undefined;
  protect?: boolean | undefined;
  /** `false` loads a missing base copy without the steps of `after_load`. Default `true`. */
  afterLoad?: boolean | undefined;
  /** A branch whose present state is taken instead of the base copy. */
  from?: string | undefined;
  /** Token of the git working tree that the branch belongs to. */
  tree?: string | undefined;
}

export interface PlannedBranches extends Planned<BranchCreateRequest, BranchCreatePlan> {
  /** The load of the base copy, where there is none. */
  load: PlannedLoad | null;
  /** The branch that they are made from, if not from the base copy. */
  origin: PlannedOrigin | null;
  /** The git branch of the current folder. */
  checkout: Pick<Checkout, 'repository' | 'branch'> | null;
}

/** Plans the creation; changes nothing. `known`: what was planned of one branch just now. */
export async function planBranchCreate(
  given: Context,
  request: BranchCreateRequest,
  known: BranchPlan | null = null,
): Promise<PlannedBranches> {
  const { target, reuse = false, from, owner } = request;
  const names = branchNames(request.name, request.count);
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  // Refused before anything is made.
  if (request.env) database.engine.urlWithPassword(database.url);
  const copies = (present: Branch[]): number => names.length - existingOf(present, { names, reuse }).length;
  const origin = from === undefined ? null : await prepareOrigin(context, { target, from, owner });
  const planning = known ? Promise.resolve(known) : database.branches.plan(origin ? () => 0 : copies);
  const naming = planning.then((found) => namedDatabases(opened, names, found));
  const comparing = assertBranchesNotSources(
    opened,
    request.target,
    naming.then((branches) => branches.map(({ database }) => database)),
  );
  // A refusal of the names comes first.
  comparing.catch(() => {});
  const [found, branches, checkout] = await Promise.all([planning, naming, readCheckout(context)]);
  const existing = existingOf(found.branches, { names, reuse });
  await assertNotADestination(
    opened,
    branches.map(({ database }) => database),
  );
  const unverified_sources = await comparing;
  const base = found.base?.closed && !origin ? found.base : null;
  if (base) await assertBaseOfTarget(context, { target, url: database.url, snapshot: base.snapshot });
  if (base) await assertNoOriginalData(context, target, base.snapshot);
  const load = base || origin || branches.length === 0 ? null : await planBase(context, request);
  const [row] = origin ? await branchRows(opened, [origin.branch]) : [];
  const plan: BranchCreatePlan = {
    target,
    destination: found.destination,
    base: base && toDatabaseCopy(base),
    load: load?.plan.snapshot ?? null,
    ...(row && { from: row }),
    ...(load?.restore && restoredBy(load.restore.restoredBy)),
    branches,
    existing,
    needs_bytes: base ? found.needsBytes : bytesOf(branches.length, { load, origin }),
    git_branch: checkout?.branch ?? null,
    unverified_sources,
    steps: stepsOf(opened, branches, { load, origin, clones: found.clones }),
    warnings: load?.plan.warnings ?? [],
  };
  return { request, plan, planned_at: context.clock().toISOString(), load, origin, checkout };
}

/** Returns the size of the branches, and of a base copy that is loaded; `null` where unknown. */
function bytesOf(count: number, { load, origin }: Pick<PlannedBranches, 'load' | 'origin'>): number | null {
  const size = origin ? origin.branch.sizeBytes : (load?.plan.size_bytes ?? null);
  return size === null ? null : size * (origin ? count : count + 1);
}

function planBase(context: Context, { target, destdb, afterLoad = true }: BranchCreateRequest) {
  return planLoad(context, { target, ...(destdb !== undefined && { destdb }), onlyBase: true, afterLoad });
}

/** Creates the branches, several at once; each is complete or absent. Steps: those of a load, `branch NAME`. */
export function applyBranchCreate(given: Context, planned: PlannedBranches): Promise<BranchCreateResult> {
  const { target, branches, base, load, destination } = planned.plan;
  const snapshot = load?.id ?? base?.snapshot ?? planned.plan.from?.snapshot ?? null;
  const names = branches.map(({ name }) => name);
  const known = { target, snapshot, from: destination.url, branches: names };
  return recorded(given, { operation: 'branch create', ...known }, { work: () => perform(given, planned) });
}

/** The owners, grants and marks of some branches are written while the files of others are copied. */
const WORK_PER_COPY = 2;

async function perform(given: Context, planned: PlannedBranches): Promise<BranchCreateResult> {
  const { request, plan } = planned;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const { engine, url } = database;
  assertSameDestination(url, plan.destination);
  if (planned.load) await applyLoad(context, planned.load);
  const expected = plan.load?.id ?? plan.base?.snapshot ?? plan.from?.snapshot ?? null;
  const { checkout } = planned;
  const { role } = findTarget(context.configuration, plan.target).snapshot ?? {};
  const accept = ({ snapshot }: { snapshot: string | null }): void => {
    if (snapshot !== expected) throw planOutdated(`The base copy of ${url.display} was replaced`);
  };
  const own = {
    repository: checkout?.repository ?? null,
    gitBranch: checkout?.branch ?? null,
    owner: request.owner ?? null,
    tree: request.tree ?? null,
    expiresAt: expiryOf(context, request),
    isProtected: request.protect ?? false,
  };
  if (planned.origin && plan.from) {
    const { origin } = planned;
    assertPlanCurrent(opened, plan, { planned: [plan.from], present: await database.branches.list() });
    const of = { target: plan.target, from: plan.from.name, owner: request.owner };
    if (plan.branches.length > 0) await createFromBranch(context, of, { origin, branches: plan.branches, own });
  } else {
    const cpus = cpusFor(context, plan.target);
    const inTurn = createSemaphore(cpus);
    await forEachBranch(context, plan.branches, {
      done: 'Created',
      atOnce: WORK_PER_COPY * cpus,
      work: (branch) =>
        database.branches.create({ ...branch, ...own, role, accept, inTurn, mayTakeSpare: request.tree !== undefined }),
    });
  }
  const branches = [...plan.branches, ...plan.existing].map(({ name, database }) => ({
    ...{ name, database, url: engine.withDatabase(url, database).display },
    created: plan.branches.some((branch) => branch.name === name),
  }));
  branches.sort((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }));
  const environment = request.env ? environmentOf(opened, branches) : null;
  return { target: plan.target, snapshot: expected, branches, ...(environment && { environment }) };
}

/** A branch of a working tree lasts as long as the tree, unless it states a time. */
function expiryOf({ clock, configuration }: Context, { expiresMs, tree }: BranchCreateRequest): string | null {
  const { expires } = configuration.settings.branches;
  const after = expiresMs ?? (tree === undefined && expires !== undefined ? parseDuration(expires) : null);
  return after === null ? null : new Date(clock().getTime() + after).toISOString();
}

/** `DATABASE_URL` of a single branch; `DATABASE_URL_1` and so on of several. */
function environmentOf(
  { database: { engine, url } }: OpenedBranches,
  branches: BranchDatabase[],
): Record<string, string> {
  const values = branches.map(({ database }) => engine.urlWithPassword(engine.withDatabase(url, database)));
  const names = values.map((_, index) => (values.length === 1 ? 'DATABASE_URL' : `DATABASE_URL_${index + 1}`));
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

function existingOf(branches: Branch[], { names, reuse }: { names: string[]; reuse: boolean }): BranchDatabase[] {
  const existing = branches
    .filter(({ name }) => names.includes(name))
    .map(({ name, database }) => ({ name, database }));
  const [first] = existing;
  if (first && !reuse) throw branchExists(first.name);
  return existing;
}

function namedDatabases(
  { database: { url } }: OpenedBranches,
  names: string[],
  { branches }: Pick<BranchPlan, 'branches'>,
): BranchDatabase[] {
  const rule = { prefix: `${url.database ?? ''}_`, limit: profileOf(url.engine).nameLimit };
  const taken = new Set(branches.map(({ database }) => database));
  const missing = names.filter((name) => !branches.some((branch) => branch.name === name));
  return missing.map((name) => {
    const database = branchDatabase(name, rule, taken);
    taken.add(database);
    return { name, database };
  });
}

function stepsOf(
  { database }: OpenedBranches,
  branches: BranchDatabase[],
  { load, origin, clones }: Pick<PlannedBranches, 'load' | 'origin'> & { clones: boolean },
): string[] {
  const how = origin ? ': restore that save' : copiedHow(database.engine, { clones });
  return [
    ...(load ? [`Load snapshot ${load.plan.snapshot?.id ?? ''} as the base copy`] : []),
    ...(origin && branches.length > 0 ? [`Save branch ${origin.branch.name}`] : []),
    ...branches.map(({ name, database }) => `Create branch ${name} as ${database}${how}`),
  ];
}
