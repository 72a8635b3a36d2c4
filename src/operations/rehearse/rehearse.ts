import type {
  ObservedLock,
  ObservedRehearsal,
  ObservedWorkload,
  RehearsalObserver,
  WorkloadWait,
} from '../../engines/facets/rehearse.ts';
import type { ScriptFacts } from '../../engines/facets/restore.ts';
import type { Database } from '../../engines/open-database.ts';
import { redact } from '../../process/redact.ts';
import type { RehearsalLimits, RehearsalPlan, RehearsalResult } from '../../results/review/rehearsal-results.ts';
import type { Context } from '../../runtime/context.ts';
import { withStep } from '../../runtime/events.ts';
import { tableName } from '../../text/table-names.ts';
import { assertReadable } from '../load/script/load-script.ts';
import type { Planned } from '../planned.ts';
import { briefLocks } from './brief-locks.ts';
import { compareSchemas, readSchema, type SchemaState } from './compare-schemas.ts';
import { problemsOf } from './limits.ts';
import { openPlace, type PlaceRequest, type PlannedPlace, planPlace } from './place.ts';
import type { Dialect } from './rules/dialect.ts';
import { DIALECTS } from './rules/dialects.ts';
import { warningsOf } from './rules/warnings.ts';
import { estimateOnSource } from './source-estimate.ts';
import { chooseWorks, describeWork, type FileWork, openScript, runWork, type Work, type WorkChoice } from './work.ts';

export interface RehearseRequest extends PlaceRequest, WorkChoice {
  limits?: RehearsalLimits | undefined;
  /** Sessions that run the statements of a file meanwhile; the path is absolute. */
  workload?: { file: string; sessions: number } | undefined;
}

export interface PlannedRehearsal extends Planned<RehearseRequest, RehearsalPlan> {
  place: PlannedPlace;
}

/** Plans a branch or a server, and the work on it; changes nothing. */
export async function planRehearsal(context: Context, request: RehearseRequest): Promise<PlannedRehearsal> {
  const { keep = false, limits = {}, workload } = request;
  const works = chooseWorks(context, request);
  const files = filesOf(works, request);
  const { planned: place, plan: made, database, ends } = await planPlace(context, request);
  const reach = database ? await checkFiles(database, files) : [];
  if (!database) await withFiles(files, assertReadable);
  const plan: RehearsalPlan = {
    ...made,
    ...{ works: works.map(describeWork), keep, limits, ...(workload && { workload }) },
    warnings: [...made.warnings, ...reach],
    steps: [...made.steps, ...works.map((work) => `Run ${describeWork(work).run}`), ...ends],
  };
  return { request, plan, planned_at: context.clock().toISOString(), place };
}

function filesOf(works: Work[], { workload }: Pick<RehearseRequest, 'workload'>): FileWork[] {
  const load: FileWork[] = workload ? [{ kind: 'sql_file', file: workload.file }] : [];
  return [...load, ...works.filter((work) => work.kind !== 'command')];
}

async function withFiles(files: FileWork[], act: (file: string) => Promise<void>): Promise<void> {
  for (const work of files) {
    await using script = await openScript(work);
    await act(script.file);
  }
}

async function checkFiles(database: Database, files: FileWork[]): Promise<ScriptFacts['warnings']> {
  const reach = new Map<string, ScriptFacts['warnings'][number]>();
  await withFiles(files, async (file) => {
    for (const warning of await checkFile(database, file)) reach.set(warning.code, warning);
  });
  return [...reach.values()];
}

/** Refuses a file that is not SQL for the branch only; the warnings say what it reaches beyond, where nothing refuses that. */
async function checkFile({ restore, rehearse, url }: Database, file: string): Promise<ScriptFacts['warnings']> {
  await assertReadable(file);
  const { warnings } = await restore.checkScript(file);
  if (!rehearse.checkFile) return warnings;
  await rehearse.checkFile(file, url.database ?? '');
  return [];
}

/** Runs the work in a place of its own. A failed work is a result. Steps: those of the place, `observe`, `work`, `compare`. */
export async function applyRehearsal(
  given: Context,
  { request, plan, place }: PlannedRehearsal,
): Promise<RehearsalResult> {
  const works = chooseWorks(given, request);
  const { context, name, database, remove } = await openPlace(given, request, place);
  let isWhole = false;
  try {
    if (plan.server) await checkFiles(database, filesOf(works, request));
    const result = await rehearse(context, { database, name, plan, works });
    isWhole = true;
    return result;
  } finally {
    if (!plan.keep || !isWhole) await remove();
  }
}

interface Rehearsal {
  database: Database;
  /** Name of the branch, or id of the server. */
  name: string;
  plan: RehearsalPlan;
  works: Work[];
}

async function rehearse(context: Context, { database, name, plan, works }: Rehearsal): Promise<RehearsalResult> {
  const { target, limits, keep } = plan;
  const { before, observed, ran } = await observeWorks(context, { database, plan, works });
  const step = { step: 'compare', label: 'Compare with the state before', done: 'Compared with the state before' };
  const compared = await withStep(context.report, step, async () =>
    compareSchemas(before, await readSchema(context, database, target)),
  );
  const dialect = DIALECTS[database.engine.id];
  const shown = shownNames(dialect, database);
  const { statements, leftOut, rewrites, walBytes, sizeBefore, sizeAfter, sampling, facts } = observed;
  const rewritten = new Set(rewrites.flatMap(({ kind, name }) => (kind === 'table' ? [name] : [])));
  const found = {
    ...{ target, snapshot: plan.load?.id ?? plan.base?.snapshot ?? null, branch: name },
    ...{ database: database.url.database ?? '', kept: keep, works: ran },
    duration_ms: ran.reduce((sum, { duration_ms }) => sum + duration_ms, 0),
    statements: statements.map(({ text, atMs, durationMs, session, inTransaction, error }) => ({
      ...{ text: hide(context, text), at_ms: rounded(atMs), duration_ms: rounded(durationMs) },
      ...{ session, in_transaction: inTransaction, error },
    })),
    statements_left_out: leftOut,
    locks: lockResults(context, dialect, observed).map(shown),
    ...{ rewrites: rewrites.map(shown), rewritten_bytes: rewrites.reduce((sum, { bytes }) => sum + bytes, 0) },
    warnings: warningsOf(dialect, statements, { ...facts, rewritten }).map((warning) => ({
      ...shown(warning),
      statement: hide(context, warning.statement),
    })),
    ...(observed.workload && { workload: workloadResult(context, { dialect, observed }, observed.workload) }),
    ...{ wal_bytes: walBytes, growth_bytes: sizeAfter - sizeBefore },
    ...{ definitions: compared.definitions.map(shown), rows: compared.rows.map(shown) },
    sampling: { interval_ms: sampling.intervalMs, samples: sampling.samples, longest_gap_ms: sampling.longestGapMs },
  };
  const estimate = await estimateOnSource(context, found);
  return { ...found, ...(estimate && { source_estimate: estimate }), ...problemsOf(found, limits) };
}

/** The schema of a table on MySQL is the database of the rehearsal, which is in no other place. */
function shownNames({ isSchemaDatabase }: Dialect, { url }: Database) {
  const prefix = isSchemaDatabase ? tableName(url.database ?? '', '') : '';
  const bare = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  return <Item extends { table?: string | null; name?: string }>(item: Item): Item => ({
    ...item,
    ...(item.table && { table: bare(item.table) }),
    ...(item.name !== undefined && { name: bare(item.name) }),
  });
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
  { database, plan, works }: Omit<Rehearsal, 'name'>,
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
