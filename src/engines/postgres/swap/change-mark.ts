import { isDeepStrictEqual } from 'node:util';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';

/** The collector of older servers counts what ended sessions did half a second later. */
const SHARED_SINCE = 150_000;

/**
 * Counters of written rows of each table, catalogs included, and the values of the sequences. Sessions count what they
 * did at the latest when they end, and a swap ends all. `ANALYZE` changes no content.
 */
const MARK = `
  SELECT (SELECT oid::int8 FROM pg_database WHERE datname = current_database()) AS database,
    (SELECT stats_reset::text FROM pg_stat_database WHERE datname = current_database()) AS since,
    (SELECT md5(string_agg(concat_ws(' ', c.oid, pg_relation_filenode(c.oid), s.n_tup_ins, s.n_tup_upd, s.n_tup_del), ',' ORDER BY c.oid))
      FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
      WHERE NOT c.relisshared
        AND (c.relname NOT IN ('pg_statistic', 'pg_statistic_ext_data') OR c.relnamespace <> 'pg_catalog'::regnamespace)) AS tables,
    (SELECT md5(string_agg(concat_ws(' ', schemaname, sequencename, last_value), ',' ORDER BY schemaname, sequencename))
      FROM pg_sequences) AS sequences`;

/** Returns what tells later whether the database was written to; `null` where the server does not count that. */
export async function readChangeMark(context: EngineContext, url: DatabaseUrl): Promise<unknown> {
  await using session = await connect(context, url);
  const [server] = await session.query<{ version: number; counts: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('track_counts')::bool AS counts`,
  );
  if (!server?.counts) return null;
  if (server.version < SHARED_SINCE) await session.query('SELECT pg_sleep(0.6)');
  const [mark] = await session.query<Record<string, unknown>>(MARK);
  return mark ?? null;
}

/** Reports whether a replaced database is known to be as when the mark was read. */
export async function isAsMarked(context: EngineContext, url: DatabaseUrl, mark: unknown): Promise<boolean> {
  if (mark === null) return false;
  const now = await readChangeMark(context, url).catch(() => null);
  context.signal.throwIfAborted();
  return isDeepStrictEqual(now, mark);
}
