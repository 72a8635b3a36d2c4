import * as v from 'valibot';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { readUpdated } from '../branches/base-changes.ts';
import { withServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { UNDO_COPY } from './undo-copy.ts';

const markSchema = v.object({ readAt: v.string(), tables: v.record(v.string(), v.nullable(v.string())) });

/** Returns the time of the last write to each table, which tells later whether there was another. */
export async function readChangeMark(context: EngineContext, url: DatabaseUrl): Promise<unknown> {
  return withServer(context, url, (server) => readMark(server, url.database ?? ''));
}

async function readMark(server: MysqlSession, database: string): Promise<v.InferOutput<typeof markSchema>> {
  const { readAt, updated } = await readUpdated(server, database);
  updated.delete(UNDO_COPY);
  return { readAt, tables: Object.fromEntries(updated) };
}

/** Reports whether the tables that are in `database` by now are known to be as when the mark was read. */
export async function isAsMarked(server: MysqlSession, database: string, mark: unknown): Promise<boolean> {
  const before = v.safeParse(markSchema, mark);
  if (!before.success) return false;
  const { readAt, tables } = before.output;
  const now = await readMark(server, database);
  const remembers = await remembersAll(server);
  // Times are in seconds: a write of the second in which the mark was read may have come after it.
  return Object.entries(now.tables).every(
    ([name, updated]) => updated === tables[name] && (updated === null ? remembers : updated < readAt),
  );
}

/** The server forgets the times of tables that its cache has no place for. */
async function remembersAll(server: MysqlSession): Promise<boolean> {
  const [row] = await server.query<{ all: number | string }>(
    'SELECT (SELECT COUNT(*) FROM information_schema.TABLES) < @@table_definition_cache AS `all`',
  );
  return Number(row?.all) === 1;
}
