import { groupsOf } from '../../../shared/groups.ts';
import { quotePath } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { withoutEventTriggers } from '../event-triggers.ts';

/** Tables of extensions may belong to other roles. */
const FORCED = `c.relforcerowsecurity AND pg_catalog.pg_has_role(c.relowner, 'USAGE')`;

/** Tables in one transaction, each of which takes a lock. */
const BATCH = 100;

/**
 * Lifts FORCE ROW LEVEL SECURITY, which hides rows also from the role that restores them: foreign keys could not be
 * verified, and no rows counted. Resolves with the tables, for `forceRowSecurity`.
 */
export async function liftForcedRowSecurity(session: PostgresSession): Promise<string[]> {
  const rows = await session.query<{ schema: string; name: string }>(`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${FORCED} ORDER BY c.oid`);
  const tables = rows.map(({ schema, name }) => quotePath(schema, name));
  await alterAll(session, tables, 'NO FORCE');
  return tables;
}

/** Forces row level security again, after all rows are counted and verified; event triggers do not fire. */
export async function forceRowSecurity(session: PostgresSession, tables: string[]): Promise<void> {
  if (tables.length > 0) await withoutEventTriggers(session, () => alterAll(session, tables, 'FORCE'));
}

async function alterAll(session: PostgresSession, tables: string[], how: 'FORCE' | 'NO FORCE'): Promise<void> {
  const statements = tables.map((table) => `ALTER TABLE ${table} ${how} ROW LEVEL SECURITY`);
  for (const some of groupsOf(statements, BATCH)) await session.transaction(some);
}

const ALTER_EACH = (how: 'FORCE' | 'NO FORCE') =>
  `FOREACH one IN ARRAY tables LOOP EXECUTE pg_catalog.format('ALTER TABLE %s ${how} ROW LEVEL SECURITY', one::regclass); END LOOP;`;

/** The same within one transaction, which remembers the tables in a setting of its own. */
export const LIFT_SCRIPT = `DO $$ DECLARE one oid; tables oid[];
BEGIN
  SELECT coalesce(array_agg(oid), '{}') INTO tables FROM pg_catalog.pg_class c WHERE ${FORCED};
  PERFORM pg_catalog.set_config('tool.forced', tables::text, true);
  ${ALTER_EACH('NO FORCE')}
END $$;
`;
export const FORCE_SCRIPT = `DO $$ DECLARE one oid; tables oid[] := pg_catalog.current_setting('tool.forced')::oid[];
BEGIN
  ${ALTER_EACH('FORCE')}
END $$;
`;
