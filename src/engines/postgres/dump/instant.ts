import { UserError } from '../../../runtime/errors.ts';
import { groupsOf } from '../../shared/groups.ts';
import { LOCK_TIMEOUT } from '../connection/lock-waits.ts';
import { quotePath, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';

interface LockableTable {
  schema: string;
  name: string;
}

const ATTEMPTS = 10;
const LOCKS_AT_ONCE = 500;

/**
 * Begins a transaction with the tables of the schemas (`null`: of all) locked, and returns the id of its exported
 * snapshot. The tables are locked first: a change that commits before the lock is in the snapshot, and none comes
 * after it. A snapshot from before the lock would show a table empty that was truncated and filled in between.
 * https://www.postgresql.org/docs/current/sql-lock.html
 */
export async function beginInstant(session: PostgresSession, schemas: string[] | null): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const tables = await session.query<LockableTable>(tablesQuery(schemas));
    const { snapshot, changed } = await lockAndExport(session, tables, schemas).catch(async (error) => {
      await session.execute('ROLLBACK').catch(() => {});
      throw error;
    });
    if (snapshot !== null) return snapshot;
    await session.execute('ROLLBACK');
    if (attempt === ATTEMPTS) throw tablesKeepChanging(changed);
  }
}

/** A table was dropped, its schema was dropped, its name became that of a view, or a session locked it in another order. */
const CHANGED = new Set(['42P01', '3F000', '42809', '40P01']);

async function lockAndExport(session: PostgresSession, tables: LockableTable[], schemas: string[] | null) {
  const locks = [...groupsOf(tables, LOCKS_AT_ONCE)].map((some) => {
    const paths = some.map(({ schema, name }) => `ONLY ${quotePath(schema, name)}`);
    return `LOCK TABLE ${paths.join(', ')} IN ACCESS SHARE MODE`;
  });
  const statements = [
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    `SET LOCAL lock_timeout = ${quoteText(LOCK_TIMEOUT)}`,
    ...locks,
    'SET LOCAL lock_timeout TO DEFAULT',
  ];
  try {
    // Sent together: behind one that fails, the server refuses the others.
    await Promise.all(statements.map((statement) => session.execute(statement)));
  } catch (error) {
    if (error instanceof SqlError && CHANGED.has(error.sqlstate)) return { snapshot: null, changed: error.message };
    throw error;
  }
  const [[row], [created]] = await Promise.all([
    session.query<{ id: string }>('SELECT pg_export_snapshot() AS id'),
    session.query<LockableTable>(`${tablesQuery(schemas)} AND NOT EXISTS (
      SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.relation = c.oid) LIMIT 1`),
  ]);
  if (!row) throw new Error('pg_export_snapshot() gave no row');
  return created
    ? { snapshot: null, changed: quotePath(created.schema, created.name) }
    : { snapshot: row.id, changed: null };
}

/** pg_dump decides which tables of extensions it reads, and locks them itself. */
function tablesQuery(schemas: string[] | null): string {
  const within =
    schemas === null
      ? `n.nspname !~ '^pg_(catalog|toast|temp)' AND n.nspname <> 'information_schema'`
      : `n.nspname IN (${schemas.map(quoteText).join(', ') || 'NULL'})`;
  return `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND ${within} AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;
}

function tablesKeepChanging(changed: string): UserError {
  return new UserError(
    'source_changing',
    `The tables of the source were replaced during each of ${ATTEMPTS} attempts to lock them`,
    { details: [changed], hint: 'Nothing was stored. Run this again when no other session creates or drops tables.' },
  );
}
