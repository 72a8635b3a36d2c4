import { randomBytes } from 'node:crypto';
import type {
  ObservedLock,
  ObservedRehearsal,
  ObservedWorkload,
  RehearsalObserver,
  WorkloadWait,
} from '../../engines/facets/rehearse.ts';
import type { ScriptFacts } from '../../engines/facets/restore.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import { redact } from '../../process/redact.ts';
import type { RehearsalLimits, RehearsalPlan, RehearsalResult } from '../../results/review/rehearsal-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { applyBranchCreate, type PlannedBranches, planBranchCreate } from '../branch/create/create.ts';
import { openBranches } from '../branch/open-branches.ts';
import { assertReadable } from '../load/script/load-script.ts';
import type { Planned } from '../planned.ts';
import { briefLocks } from './brief-locks.ts';
import { compareSchemas, readSchema, type SchemaState } from './compare-schemas.ts';
import { problemsOf } from './limits.ts';
import type { Dialect } from './rules/dialect.ts';
import { DIALECTS } from './rules/dialects.ts';
import { warningsOf } from './rules/warnings.ts';
import { estimateOnSource } from './source-estimate.ts';
import { chooseWorks, describeWork, openScript, runWork, type Work, type WorkChoice } from './work.ts';

export interface RehearseRequest extends WorkChoice {
  destdb?: string | undefined;
  /** The agent that makes the request. */
  owner?: string | undefined;
  /** Keeps the branch. */
  keep?: boolean | undefined;
  limits?: RehearsalLimits | undefined;
  /** Sessions that run the statements of a file meanwhile; the path is absolute. */
  workload?: { file: string; sessions: number } | undefined;
}

export interface PlannedRehearsal extends Planned<RehearseRequest, RehearsalPlan> {
  create: PlannedBranches;
}

/** A killed rehearsal leaves its branch, which `branch prune` drops after so many milliseconds. */
const EXPIRES_MS = 24 * 3_600_000;

/** Plans a branch and the work on it; changes nothing. */
export async function planRehearsal(context: Context, request: RehearseRequest): Promise<PlannedRehearsal> {
  const { target, destdb, owner, keep = false, limits = {}, workload } = request;
  const works = chooseWorks(context, request);
  const { database } = await openBranches(context, request);
  const name = `rehearsal-${randomBytes(4).toString('hex')}`;
  const create = await planBranchCreate(context, {
    ...{ target, name, destdb, owner },
    ...(!keep && { expiresMs: EXPIRES_MS }),
    // Steps that are rehearsed must not have run before.
    afterLoad: request.command !== undefined || request.sql !== undefined || request.sqlText !== undefined,
  });
  const [branch] = create.plan.branches;
  if (!branch) throw branchMissing();
  const reach = new Map<string, ScriptFacts['warnings'][number]>();
  const check = async (file: string): Promise<void> => {
    for (const warning of await checkFile(database, file, branch.database)) reach.set(warning.code, warning);
  };
  if (workload) await check(workload.file);
  for (const work of works) {
    if (work.kind === 'command') continue;
    await using script = await openScript(work);
    await check(script.file);
  }
  const steps = works.map((work) => `Run ${describeWork(work).run}`);
  const plan: RehearsalPlan = {
    ...create.plan,
    ...{ works: works.map(describeWork), keep, limits, ...(workload && { workload }) },
    warnings: [...create.plan.warnings, ...reach.values()],
    steps: [...create.plan.steps, ...steps, ...(keep ? [] : [`Drop branch ${name}`])],
  };
  return { request, plan, planned_at: create.planned_at, create };
}

/** Refuses a file that is not SQL for the branch only; the warnings say what it reaches beyond, where nothing refuses that. */
async function checkFile(database: Database, file: string, branch: string): Promise<ScriptFacts['warnings']> {
  await assertReadable(file);
  const { warnings } = await database.restore.checkScript(file);
  const { rehearse } = database;
  if (!rehearse.checkFile) return warnings;
  await rehearse.checkFile(file, branch);
  return [];
}

function branchMissing(): UserError {
  return new UserError('branch_missing', 'The rehearsal has no branch');
}

/** Runs the work on a branch of its own. A failed work is a result. Steps: those of a branch, `observe`, `work`, `compare`. */
export async function applyRehearsal(given: Context, planned: PlannedRehearsal): Promise<RehearsalResult> {
  const { request, plan } = planned;
  const works = chooseWorks(given, request);
  await applyBranchCreate(given, planned.create);
  const { context, database: destination } = await openBranches(given, request);
  const [branch] = plan.branches;
  if (!branch) throw branchMissing();
  const database = openDatabase(context, destination.engine.withDatabase(destination.url, branch.database));
  let isWhole = false;
  try {
    const result = await rehearse(context, { database, plan, works });
    isWhole = true;
    return result;
  } finally {
    if (!plan.keep || !isWhole) await dropBranch(given, request, branch.name);
  }
}

const DROP_TIMEOUT_MS = 60_000;

/** Also after an interruption, which must not end this. Its failure hides no other one. */
async function dropBranch(given: Context, request: RehearseRequest, name: string): Promise<void> {
  try {
    const { database } = await openBranches({ ...given, signal: AbortSignal.timeout(DROP_TIMEOUT_MS) }, request);
    await database.branches.drop(name);
  } catch (error) {
    const message = `Branch "${name}" is left: ${(error as Error).message}. To drop it: tool branch prune`;
    given.report({ event: 'warning', code: 'leftover', message });
  }
}

interface Rehearsal {
  database: Database;
  plan: RehearsalPlan;
  works: Work[];
}

async function rehearse(context: Context, { database, plan, works }: Rehearsal): Promise<RehearsalResult> {
  const { target, limits, keep } = plan;
  const [branch = { name: '', database: '' }] = plan.branches;
  const { before, observed, ran } = await observeWorks(context, { database, plan, works });
  const step = { step: 'compare', label: 'Compare with the state before', done: 'Compared with the state before' };
  const compared = await withStep(context.report, step, async () =>
    compareSchemas(before, await readSchema(context, database, target)),
  );
  const dialect = DIALECTS[database.engine.id];
  const { statements, leftOut, rewrites, walBytes, sizeBefore, sizeAfter, sampling, facts } = observed;
  const rewritten = new Set(rewrites.flatMap(({ kind, name }) => (kind === 'table' ? [name] : [])));
  const found = {
    ...{ target, snapshot: plan.load?.id ?? plan.base?.snapshot ?? null, branch: branch.name },
    ...{ database: branch.database, kept: keep, works: ran },
    duration_ms: ran.reduce((sum, { duration_ms }) => sum + duration_ms, 0),
    statements: statements.map(({ text, atMs, durationMs, session, inTransaction, error }) => ({
      ...{ text: hide(context, text), at_ms: rounded(atMs), duration_ms: rounded(durationMs) },
      ...{ session, in_transaction: inTransaction, error },
    })),
    statements_left_out: leftOut,
    locks: lockResults(context, dialect, observed),
    ...{ rewrites, rewritten_bytes: rewrites.reduce((sum, { bytes }) => sum + bytes, 0) },
    warnings: warningsOf(dialect, statements, { ...facts, rewritten }).map((warning) => ({
      ...warning,
      statement: hide(context, warning.statement),
    })),
    ...(observed.workload && { workload: workloadResult(context, { dialect, observed }, observed.workload) }),
    ...{ wal_bytes: walBytes, growth_bytes: sizeAfter - sizeBefore, ...compared },
    sampling: { interval_ms: sampling.intervalMs, samples: sampling.samples, longest_gap_ms: sampling.longestGapMs },
  };
  const estimate = await estimateOnSource(context, found);
  return { ...found, ...(estimate && { source_estimate: estimate }), ...problemsOf(found, limits) };
}

/** A wait names the statement that took the lock, which may not be the one that ran meanwhile. */
function workloadResult(
  context: Context,
  { dialect, observed: { locks } }: { dialect: Dialect; observed: ObservedRehearsal },
  { sessions, statements, failed, firstError, waits }: ObservedWorkload,
): NonNullable<RehearsalResult['workload']> {
  const holder = ({ atMs, durationMs }: WorkloadWait): string | null => {
    const overlap = (lock: ObservedLock): number =>
      Math.min(atMs + durationMs, lock.atMs + lock.heldMs) - Math.max(atMs, lock.atMs);
    const blocking = locks.filter(({ mode }) => dialect.blockedBy(mode) !== 'none');
    const [lock] = blocking.toSorted((one, other) => overlap(other) - overlap(one));
    return lock && overlap(lock) > 0 ? lock.statement : null;
  };
  return {
    ...{ sessions, statements, failed, first_error: firstError && hide(context, firstError) },
    waits: waits.map((wait) => {
      const waitedFor = wait.blockedBy === null ? null : (holder(wait) ?? wait.blockedBy);
      return {
        statement: hide(context, wait.statement),
        at_ms: rounded(wait.atMs),
        duration_ms: rounded(wait.durationMs),
        waited_for: waitedFor && hide(context, waitedFor),
      };
    }),
  };
}

function lockResults(context: Context, dialect: Dialect, observed: ObservedRehearsal): RehearsalResult['locks'] {
  const seen = observed.locks.map((lock) => ({ ...lock, below_resolution: false }));
  // The times of their statements stand for locks that no sample saw.
  const { samples, intervalMs } = observed.sampling;
  const brief = briefLocks(dialect, observed).map((lock) => ({
    ...lock,
    below_resolution: samples > 0 && lock.heldMs < intervalMs,
  }));
  return [...seen, ...brief]
    .sort((one, other) => one.atMs - other.atMs)
    .map(({ table, index, mode, atMs, heldMs, below_resolution, statement }) => ({
      ...{ table, index, mode, blocks: dialect.blockedBy(mode), at_ms: rounded(atMs), held_ms: rounded(heldMs) },
      ...{ below_resolution, statement: statement && hide(context, statement) },
    }));
}

async function observeWorks(
  context: Context,
  { database, plan, works }: Rehearsal,
): Promise<{ before: SchemaState; observed: ObservedRehearsal; ran: RehearsalResult['works'] }> {
  const step = { step: 'observe', label: 'Read the state before', done: 'Read the state before' };
  const [before, observer] = await withStep(
    context.report,
    step,
    async (): Promise<[SchemaState, RehearsalObserver]> => {
      const state = await readSchema(context, database, plan.target);
      return [state, await database.rehearse.observe()];
    },
  );
  await using opened = observer;
  if (plan.workload) await opened.startWorkload({ ...plan.workload, signal: context.signal });
  const ran: RehearsalResult['works'] = [];
  for (const work of works) {
    const { run } = describeWork(work);
    const done = await withStep(context.report, { step: 'work', label: `Run ${run}`, done: `Ran ${run}` }, () =>
      runWork(context, work, opened),
    );
    ran.push(done);
    if (done.failed) break;
  }
  return { before, observed: await opened.finish(), ran };
}

function hide({ hide: hideKnown = (text) => text }: Context, text: string): string {
  return redact(hideKnown(text));
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
