import { FIRST_OWN_OID } from '../../catalog/first-own-oid.ts';
import type { PostgresSession } from '../../connection/session.ts';

/**
 * Statements that drop what a database has outside of schemas and pg_dump would create anew: event triggers first, so
 * that they do not hear of the rest. What an extension or a type brought goes or stays with it.
 */
export async function dropsWithoutSchema(session: PostgresSession): Promise<string[]> {
  const rows = await session.query<{ statement: string }>(`
    SELECT concat('DROP ', upper(replace(i.type, '-', ' ')), ' IF EXISTS ',
      CASE i.type WHEN 'transform' THEN regexp_replace(i.identity, '^for', 'FOR') ELSE i.identity END,
      CASE WHEN i.type <> 'event trigger' THEN ' CASCADE' END, ';') AS statement
    FROM (
      SELECT 1 AS turn, 'pg_event_trigger'::regclass AS class, oid FROM pg_event_trigger
      UNION ALL SELECT 2, 'pg_cast'::regclass, oid FROM pg_cast
      UNION ALL SELECT 3, 'pg_transform'::regclass, oid FROM pg_transform
      UNION ALL SELECT 4, 'pg_foreign_data_wrapper'::regclass, oid FROM pg_foreign_data_wrapper
      UNION ALL SELECT 5, 'pg_language'::regclass, oid FROM pg_language
      UNION ALL SELECT 6, 'pg_am'::regclass, oid FROM pg_am
    ) o, pg_identify_object(o.class, o.oid, 0) i
    WHERE o.oid >= ${FIRST_OWN_OID} AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.deptype IN ('e', 'i'))
    ORDER BY o.turn, i.identity`);
  return rows.map(({ statement }) => statement);
}
