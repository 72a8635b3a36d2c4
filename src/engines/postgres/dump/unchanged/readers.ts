import { UserError } from '../../../../runtime/errors.ts';
import { mapWithConcurrency } from '../../../../runtime/map-with-concurrency.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connect } from '../../connection/connect.ts';
import { quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { SessionSettings } from '../../connection/url.ts';
import { RANGES_SINCE } from '../ranges.ts';

/** Sessions of a database that read the same rows, each a part of them. */
export interface Readers extends AsyncDisposable {
  session: PostgresSession;
  /** The session, and another one with the snapshot of its transaction where so many pages are read. */
  share(pages: number): Promise<PostgresSession[]>;
  /** Ends the transactions. */
  end(): Promise<void>;
}

/** Fewer pages are read sooner than a second session begins. */
export const LEAST_PAGES = 4096;

/** Opens the first of the sessions; throws where the database admits none. */
export async function openReaders(
  context: EngineContext,
  { url, settings }: { url: DatabaseUrl; settings: SessionSettings },
): Promise<Readers> {
  const session = await connect(context, url, { settings, tablesOnly: true });
  let second: PostgresSession | null = null;
  const openSecond = async (): Promise<PostgresSession | null> => {
    try {
      return await connect(context, url, { settings, tablesOnly: true });
    } catch (error) {
      context.signal.throwIfAborted();
      // It saves time only.
      if (!(error instanceof UserError)) throw error;
      return null;
    }
  };
  return {
    session,
    async share(pages) {
      if (pages < LEAST_PAGES) return [session];
      second ??= await openSecond();
      const [exported] = await session.query<{ id: string }>(
        `SELECT pg_export_snapshot() AS id WHERE current_setting('server_version_num')::int >= ${quoteNumber(RANGES_SINCE * 10_000)}`,
      );
      if (!second || !exported) return [session];
      await second.execute('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await second.execute(`SET TRANSACTION SNAPSHOT ${quoteText(exported.id)}`);
      return [session, second];
    },
    async end() {
      await Promise.all([session, second].map((one) => one?.execute('ROLLBACK')));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([session, second].map((one) => one?.close()));
    },
  };
}

/** Does the work for each item, in the session that is free. */
export async function betweenSessions<Item, Result>(
  sessions: PostgresSession[],
  items: Item[],
  work: (session: PostgresSession, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const free = [...sessions];
  return mapWithConcurrency(items, sessions.length, async (item) => {
    const session = free.pop();
    if (!session) throw new Error('no session is free');
    try {
      return await work(session, item);
    } finally {
      free.push(session);
    }
  });
}
