import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { boundedLines } from '../../../text/bounded-list.ts';
import type { EngineContext } from '../../engine-context.ts';
import { runTogether } from '../../shared/run-together.ts';
import { connect } from '../connection/connect.ts';
import { quotePath, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import type { FillRun } from '../restore/rows/filling.ts';
import type { StatisticsToTakeOver } from './take-over.ts';

export interface StatisticsOptions extends Pick<FillRun, 'url'>, Partial<Pick<FillRun, 'tools' | 'settings'>> {
  sessions: number;
  /** Ends, and leaves its session and the relations that it has not come to. */
  early?: EarlyStatistics | undefined;
  /** Tables whose statistics are in the snapshot are analyzed only where those are not complete. */
  stored?: StatisticsToTakeOver | undefined;
}

/** Relations with statistics: tables, whose partitions go with the topmost one, or materialized views. */
export const TABLES = `c.relkind IN ('r', 'p') AND NOT c.relispartition`;
export const VIEWS = `c.relkind = 'm' AND c.relispopulated`;
export const ALL = `(${TABLES} OR ${VIEWS})`;

/** Changed rows since the last ANALYZE, by the oid of their table. Where statistics were taken over, there was none. */
export type ChangedRows = Record<string, number>;

export async function countChangedRows(context: EngineContext, options: StatisticsOptions): Promise<ChangedRows> {
  await using session = await connect(context, options.url, options);
  const rows = await session.query<{ relid: string; changed: number }>(
    'SELECT relid::text AS relid, n_mod_since_analyze AS changed FROM pg_stat_user_tables WHERE n_mod_since_analyze > 0',
  );
  return Object.fromEntries(rows.map(({ relid, changed }) => [relid, changed]));
}

/** Gathers the statistics of relations whose rows changed after they were analyzed or counted. */
export function analyzeChanged(context: EngineContext, options: StatisticsOptions & { counted: ChangedRows }) {
  const before = quoteText(JSON.stringify(options.counted));
  const changed = `s.n_mod_since_analyze > 0 AND s.n_mod_since_analyze IS DISTINCT FROM (${before}::jsonb ->> s.relid::text)::bigint`;
  return analyze(
    context,
    options,
    `${ALL} AND EXISTS (
      SELECT FROM pg_partition_tree(c.oid) p, pg_stat_user_tables s WHERE s.relid IN (p.relid, c.oid) AND ${changed}
      UNION ALL SELECT FROM pg_stat_user_tables s WHERE s.relid = c.oid AND ${changed})`,
  );
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

/** Statistics of tables that have their rows, gathered by one session while others load and build indexes. */
export interface EarlyStatistics {
  /** Most tables of one statement. */
  add(relations: string[]): void;
  /** Ends after the statement under way. */
  end(): Promise<{
    /** Relations whose statistics are there. */
    done: Set<string>;
    /** `null` when the connection was lost. */
    session: PostgresSession | null;
  }>;
}

/**
 * Tables whose statistics do not depend on what comes after their rows: neither partitions, whose root's statistics
 * bring theirs, nor parents.
 */
const ALONE = `c.relkind = 'r' AND NOT c.relispartition AND NOT c.relhassubclass`;

export async function earlyStatistics(
  session: PostgresSession,
  stored?: StatisticsToTakeOver,
): Promise<EarlyStatistics> {
  const paths = (await relations(session, ALONE)).map(pathOf);
  const alone = new Set(paths.filter((path) => !stored?.tables.has(path)));
  const queue: string[][] = [];
  const done = new Set<string>();
  let working: Promise<void> | null = null;
  let isEnded = false;
  const work = async (): Promise<void> => {
    for (let some = queue.shift(); some && !isEnded; some = queue.shift()) {
      await session.execute(`ANALYZE ${some.join(', ')}`);
      for (const relation of some) done.add(relation);
    }
  };
  return {
    add(some) {
      const own = some.filter((relation) => alone.has(relation));
      if (own.length > 0) queue.push(own);
      // What fails is tried again at the end, and told there.
      working ??= work()
        .catch(() => {})
        .finally(() => {
          working = null;
        });
    },
    async end() {
      isEnded = true;
      await working;
      // It may have been idle for hours.
      const open = await session.execute('SELECT').then(
        () => session,
        (error) => (error instanceof ConnectionLost ? null : Promise.reject(error)),
      );
      return { done, session: open };
    },
  };
}

interface Relation {
  schema: string;
  name: string;
  /** Its statistics have more than those of its columns. */
  has_more: boolean;
}

function pathOf({ schema, name }: Relation): string {
  return quotePath(schema, name);
}

/** Only what the role may analyze, the largest first. */
function relations(session: PostgresSession, which: string): Promise<Relation[]> {
  return session.query<Relation>(`
    SELECT n.nspname AS schema, c.relname AS name, c.relkind <> 'r' OR c.relhassubclass
      OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indexprs IS NOT NULL)
      OR EXISTS (SELECT FROM pg_statistic_ext s WHERE s.stxrelid = c.oid) AS has_more
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.relpersistence <> 't'
      AND pg_has_role(c.relowner, 'USAGE') AND ${which}
    ORDER BY c.relkind = 'p' DESC, pg_relation_size(c.oid) DESC, c.oid`);
}

/** Gathers the statistics of the relations. A failure is a warning: the rows are there. */
export async function analyze(context: EngineContext, options: StatisticsOptions, which: string): Promise<void> {
  const early = await options.early?.end();
  await using opened = new AsyncDisposableStack();
  const first = early?.session ?? opened.use(await connect(context, options.url, options));
  const taken = await options.stored?.takeOver(first);
  const found = (await relations(first, which)).filter((one) => !taken?.has(pathOf(one)));
  const queue = found.filter((one) => one.has_more || !early?.done.has(pathOf(one))).map(pathOf);
  const refused: string[] = [];
  const takeAll = async (session: PostgresSession, signal: AbortSignal): Promise<void> => {
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
