import { FIRST_OWN_OID } from '../catalog/first-own-oid.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

/** Objects that initdb or an extension created are not restored. */
const own = (catalog: string, alias: string): string =>
  `${alias}.oid >= ${FIRST_OWN_OID} AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.objid = ${alias}.oid AND d.deptype = 'e')`;

/** Objects that a load names in its plan. */
const MOST = 20;

/**
 * Objects that only a superuser may create, but for extensions and event triggers, which loads create apart: functions in
 * languages that are not trusted, base types, operator classes, casts.
 */
export async function readSuperuserObjects(session: PostgresSession, schemas: string[]): Promise<string[]> {
  const inSchemas = (column: string): string =>
    `${column} IN (SELECT oid FROM pg_namespace WHERE nspname IN (${schemas.map(quoteText).join(', ')}))`;
  const rows = await session.query<{ name: string }>(`
    SELECT type || ' ' || identity AS name FROM (
      SELECT 'pg_proc'::regclass AS class, p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid
        WHERE ${own('pg_proc', 'p')} AND ${inSchemas('p.pronamespace')} AND (
          CASE p.prokind WHEN 'a' THEN a.aggtranstype = 'internal'::regtype OR a.aggmtranstype = 'internal'::regtype ELSE NOT l.lanpltrusted END
          OR p.proleakproof OR p.prosupport <> 0
          OR EXISTS (SELECT FROM unnest(p.proconfig) c JOIN pg_settings s ON s.name = split_part(c, '=', 1) WHERE s.context LIKE 'superuser%'))
      UNION ALL SELECT 'pg_type'::regclass, t.oid FROM pg_type t
        WHERE ${own('pg_type', 't')} AND ${inSchemas('t.typnamespace')} AND t.typtype IN ('b', 'p')
          AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
      UNION ALL SELECT 'pg_opclass'::regclass, o.oid FROM pg_opclass o WHERE ${own('pg_opclass', 'o')} AND ${inSchemas('o.opcnamespace')}
      UNION ALL SELECT 'pg_opfamily'::regclass, o.oid FROM pg_opfamily o WHERE ${own('pg_opfamily', 'o')} AND ${inSchemas('o.opfnamespace')}
      UNION ALL SELECT 'pg_ts_parser'::regclass, o.oid FROM pg_ts_parser o WHERE ${own('pg_ts_parser', 'o')} AND ${inSchemas('o.prsnamespace')}
      UNION ALL SELECT 'pg_ts_template'::regclass, o.oid FROM pg_ts_template o WHERE ${own('pg_ts_template', 'o')} AND ${inSchemas('o.tmplnamespace')}
      UNION ALL SELECT 'pg_am'::regclass, o.oid FROM pg_am o WHERE ${own('pg_am', 'o')}
      UNION ALL SELECT 'pg_language'::regclass, o.oid FROM pg_language o WHERE ${own('pg_language', 'o')}
      UNION ALL SELECT 'pg_foreign_data_wrapper'::regclass, o.oid FROM pg_foreign_data_wrapper o WHERE ${own('pg_foreign_data_wrapper', 'o')}
      UNION ALL SELECT 'pg_transform'::regclass, o.oid FROM pg_transform o WHERE ${own('pg_transform', 'o')}
      UNION ALL SELECT 'pg_cast'::regclass, o.oid FROM pg_cast o
        WHERE ${own('pg_cast', 'o')} AND (o.castmethod = 'b' OR (o.castsource < ${FIRST_OWN_OID} AND o.casttarget < ${FIRST_OWN_OID}))
      UNION ALL SELECT DISTINCT s.classoid, s.objoid FROM pg_seclabel s
    ) o, pg_identify_object(o.class, o.oid, 0)
    ORDER BY 1 LIMIT ${MOST}`);
  return rows.map(({ name }) => name);
}
