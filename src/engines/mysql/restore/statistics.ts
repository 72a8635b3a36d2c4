import { redact } from '../../../process/redact.ts';
import { boundedLines } from '../../../text/bounded-list.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { histogramClauses, presentHistograms } from '../catalog/histograms.ts';
import { readServer } from '../catalog/introspect.ts';
import { readTableList } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { inSessions } from '../connection/in-sessions.ts';
import { quoteName } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { onRefusal } from '../connection/session-errors.ts';
import type { Histogram } from '../details-schema.ts';

/** Most tables in the warning. */
const NAMED = 5;

/** Engines with statistics that their tables keep when they move to another database. */
const ENGINES = new Set(['InnoDB', 'MyISAM', 'Aria']);

interface StatisticsOptions {
  url: DatabaseUrl;
  sessions: number;
  /** Default: all tables. */
  only?: string[];
  /** Histograms to gather besides those that the database has. */
  histograms?: Histogram[] | undefined;
}

/**
 * Gathers the statistics of tables of a database, from their present rows, and resolves with the histograms. A failure
 * is a warning: the rows are there.
 */
export async function analyzeTables(
  context: EngineContext,
  { url, sessions, only, histograms = [] }: StatisticsOptions,
): Promise<Histogram[]> {
  const database = url.database ?? '';
  await using listing = await connect(context, url);
  const listed = await readTableList(listing, database);
  const all = listed.flatMap(({ name, engine }) => (engine !== null && ENGINES.has(engine) ? [name] : []));
  const queue = only ?? all;
  const server = await readServer(listing);
  const wanted = await presentHistograms(listing, database, histograms);
  const byTable = Map.groupBy(wanted, ({ table }) => table);
  const refused: string[] = [];
  await inSessions(context, {
    ...{ url, queue, sessions },
    async work(session, table) {
      for (const clause of ['', ...histogramClauses(byTable.get(table) ?? [], server)]) {
        const error = await analyze(session, `${quoteName(table)} ${clause}`);
        if (error !== null) refused.push(`${table}: ${error}`);
      }
    },
  });
  if (refused.length === 0) return wanted;
  const message = `The statistics of some tables could not be gathered; the server does later: ${boundedLines(refused, NAMED).join('; ')}`;
  context.report({ event: 'warning', code: 'statistics_missing', message });
  return wanted;
}

/** Every server has its own statistics, so the statement is not replicated. Resolves with why it failed. */
async function analyze(session: MysqlSession, what: string): Promise<string | null> {
  const statement = `ANALYZE NO_WRITE_TO_BINLOG TABLE ${what}`;
  return session.query<{ Msg_type: string; Msg_text: string }>(statement).then(
    (rows) => rows.find(({ Msg_type }) => Msg_type.toLowerCase() === 'error')?.Msg_text ?? null,
    onRefusal(({ message }) => redact(message)),
  );
}
