import { UserError } from '../../../../runtime/errors.ts';
import { mapWithConcurrency } from '../../../../runtime/map-with-concurrency.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { prepareSession } from '../../../shared/prepare-session.ts';
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

/**
 * Behind a checkpoint the WAL has each block that is written, whole, also where a read removes dead rows from it. Other
 * methods than lz4 take longer than writing does; a method that was set remains. Only a superuser may set it.
 */
const COMPRESSION = `SELECT set_config(name, 'lz4', false) FROM pg_settings
  WHERE name = 'wal_compression' AND setting = 'off' AND 'lz4' = ANY (enumvals) AND current_setting('is_superuser') = 'on'`;

/** Opens the first of the sessions; throws where the database admits none. */
export async function openReaders(
  context: EngineContext,
  { url, settings }: { url: DatabaseUrl; settings: SessionSettings },
): Promise<Readers> {
  const open = async (): Promise<PostgresSession> => {
    const opened = await connect(context, url, { settings });
    return prepareSession(opened, () => opened.execute(COMPRESSION));
  };
  const session = await open();
  let second: PostgresSession | null = null;
  const openSecond = async (): Promise<PostgresSession | null> => {
    try {
      return await open();
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
