import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { boundedLines } from '../../../text/bounded-list.ts';
import type { EngineContext } from '../../engine-context.ts';
import { runTogether } from '../../shared/run-together.ts';
import { connect } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { PsqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import type { FillRun } from './rows/filling.ts';

export interface StatisticsOptions extends Pick<FillRun, 'url'>, Partial<Pick<FillRun, 'tools' | 'settings'>> {
  /** Sessions beside each other. */
  sessions: number;
}

/** Relations with statistics: tables, whose partitions go with the topmost one, or materialized views. */
const TABLES = `c.relkind IN ('r', 'p') AND NOT c.relispartition`;
const VIEWS = `c.relkind = 'm' AND c.relispopulated`;
const CHANGED = `(${TABLES} OR ${VIEWS}) AND EXISTS (
  SELECT FROM pg_partition_tree(c.oid) p, pg_stat_user_tables s
  WHERE s.relid IN (p.relid, c.oid) AND s.n_mod_since_analyze > 0
  UNION ALL SELECT FROM pg_stat_user_tables s WHERE s.relid = c.oid AND s.n_mod_since_analyze > 0)`;

/** Gathers the statistics of all tables. */
export function analyzeTables(context: EngineContext, options: StatisticsOptions): Promise<void> {
  return analyze(context, options, TABLES);
}

export function analyzeViews(context: EngineContext, options: StatisticsOptions): Promise<void> {
  return analyze(context, options, VIEWS);
}

export function analyzeAll(context: EngineContext, options: StatisticsOptions): Promise<void> {
  return analyze(context, options, `(${TABLES} OR ${VIEWS})`);
}

/** Gathers the statistics of what was changed since they were gathered, as the server counts it. */
export function analyzeChanged(context: EngineContext, options: StatisticsOptions): Promise<void> {
  return analyze(context, options, CHANGED);
}

/** Tables, with those that have rows of them as well: partitioned and inherited ones. */
export function analyzeTablesOf(
  context: EngineContext,
  options: StatisticsOptions,
  tables: { schema: string; table: string }[],
): Promise<void> {
  const names = quoteText(JSON.stringify(tables));
  return analyze(
    context,
    options,
    `c.oid IN (
      WITH RECURSIVE up AS (
        SELECT t.oid FROM json_to_recordset(${names}) AS w (schema text, "table" text)
        JOIN pg_namespace s ON s.nspname = w.schema JOIN pg_class t ON t.relnamespace = s.oid AND t.relname = w."table"
        UNION SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.oid
      ) SELECT oid FROM up) AND ${TABLES}`,
  );
}

/** Small tables, of which several are under way at once: an answer takes longer than their sample. */
const STATEMENTS_AT_ONCE = 16;

/** Only what the role may analyze, the largest first. A failure is a warning: the rows are there. */
async function analyze(context: EngineContext, options: StatisticsOptions, which: string): Promise<void> {
  await using first = await connect(context, options.url, options);
  const found = await first.query<{ relation: string }>(`
    SELECT format('%I.%I', n.nspname, c.relname) AS relation FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.relpersistence <> 't'
      AND pg_has_role(c.relowner, 'USAGE') AND ${which}
    ORDER BY c.relkind = 'p' DESC, pg_relation_size(c.oid) DESC, c.oid`);
  const queue = found.map(({ relation }) => relation);
  const refused: string[] = [];
  const takeAll = async (session: PsqlSession, signal: AbortSignal): Promise<void> => {
    for (let some = take(queue); some.length > 0 && !signal.aborted; some = take(queue)) {
      await mapWithConcurrency(some, STATEMENTS_AT_ONCE, async (relation) => {
        await session.execute(`ANALYZE ${relation}`).catch((error) => {
          if (!(error instanceof SqlError)) throw error;
          refused.push(`${relation}: ${error.message}`);
        });
      });
    }
  };
  const others = Math.min(options.sessions, Math.ceil(queue.length / 2)) - 1;
  await runTogether(context.signal, [
    (signal) => takeAll(first, signal),
    ...Array.from({ length: Math.max(0, others) }, () => async (signal: AbortSignal) => {
      await using session = await connect({ ...context, signal }, options.url, options);
      await takeAll(session, signal);
    }),
  ]);
  if (refused.length === 0) return;
  const message = `The statistics of some tables could not be gathered; the server does later: ${boundedLines(refused, NAMED).join('; ')}`;
  context.report({ event: 'warning', code: 'statistics_missing', message });
}

const NAMED = 5;

const TAKEN_AT_ONCE = 8;

/** Few large ones first, so that all sessions end together. */
function take(queue: string[]): string[] {
  return queue.splice(0, Math.max(1, Math.min(TAKEN_AT_ONCE, Math.floor(queue.length / 8))));
}
