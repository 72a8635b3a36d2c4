import type { WarningEvent } from '../../../results/events.ts';
import type { HiddenObjects } from '../../../results/manifest/hidden-objects.ts';
import { boundedLines } from '../../../text/bounded-list.ts';
import { whatIsHidden } from '../../../text/format-objects.ts';
import type { EngineContext } from '../../engine-context.ts';
import { isStandby, STANDBY_HINT } from '../connection/explain-errors.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

/** Objects of one kind that the role may not read, and what would let it. */
interface LackingRight {
  /** `table public.person`, the first of them. */
  names: string[];
  /** An imperative. */
  hint: string;
}

/** Most objects that a message names. */
const NAMED = 5;
/** Schemas that one statement names; above that the role of PostgreSQL 14 that reads all of them is shorter. */
const MOST_SCHEMAS = 20;

/**
 * Returns the rights that the session's role lacks to dump the schemas, in the order in which pg_dump needs them.
 * Queries the rights, since the messages of pg_dump are in the language of the server.
 */
async function readLackingRights(session: PostgresSession, schemas: string[]): Promise<LackingRight[]> {
  const within = `n.nspname IN (${schemas.map(quoteText).join(', ') || 'NULL'})`;
  const [role] = await session.query<{ name: string }>('SELECT current_user AS name');
  const name = quoteName(role?.name ?? '');
  const relations = (condition: string): string => `
    SELECT format('%I.%I', n.nspname, c.relname) AS name, quote_ident(n.nspname) AS schema FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${within} AND ${condition} ORDER BY 1`;
  const grantOn = (found: { schema: string }[], statement: (names: string) => string): string => {
    const within = [...new Set(found.map(({ schema }) => schema))];
    return within.length > MOST_SCHEMAS ? `GRANT pg_read_all_data TO ${name};` : statement(within.join(', '));
  };
  const kinds: { what: string; sql: string; hint: (found: { name: string; schema: string }[]) => string }[] = [
    {
      what: 'schema',
      sql: `SELECT quote_ident(n.nspname) AS name, quote_ident(n.nspname) AS schema FROM pg_namespace n
        WHERE ${within} AND NOT has_schema_privilege(n.oid, 'USAGE') ORDER BY 1`,
      hint: (found) => grantOn(found, (names) => `GRANT USAGE ON SCHEMA ${names} TO ${name};`),
    },
    {
      what: 'table',
      sql: relations(`c.relkind IN ('r', 'p') AND NOT has_table_privilege(c.oid, 'SELECT')`),
      hint: (found) => grantOn(found, (names) => `GRANT SELECT ON ALL TABLES IN SCHEMA ${names} TO ${name};`),
    },
    {
      what: 'sequence',
      sql: relations(`CASE WHEN c.relkind = 'S' THEN NOT has_sequence_privilege(c.oid, 'SELECT') END`),
      hint: (found) => grantOn(found, (names) => `GRANT SELECT ON ALL SEQUENCES IN SCHEMA ${names} TO ${name};`),
    },
    {
      what: 'row level security of table',
      sql: relations(`c.relkind IN ('r', 'p') AND row_security_active(c.oid)`),
      hint: () => `ALTER ROLE ${name} BYPASSRLS;`,
    },
    {
      what: 'large object',
      sql: `SELECT l.oid::text AS name, '' AS schema FROM pg_largeobject_metadata l
        WHERE NOT pg_has_role(l.lomowner, 'USAGE') AND NOT EXISTS (SELECT FROM aclexplode(l.lomacl) a
          WHERE a.privilege_type = 'SELECT' AND (a.grantee = 0 OR pg_has_role(a.grantee, 'USAGE')))
        AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) ORDER BY l.oid`,
      hint: () =>
        `DO ${quoteText(
          `DECLARE id oid; BEGIN FOR id IN SELECT oid FROM pg_largeobject_metadata LOOP EXECUTE format('GRANT SELECT ON LARGE OBJECT %s TO %I', id, ${quoteText(role?.name ?? '')}); END LOOP; END`,
        )};`,
    },
  ];
  const lacking: LackingRight[] = [];
  for (const { what, sql, hint } of kinds) {
    const found = await session.query<{ name: string; schema: string }>(sql);
    if (found.length === 0) continue;
    lacking.push({
      names: boundedLines(
        found.map((each) => `${what} ${each.name}`),
        NAMED,
      ),
      hint: hint(found),
    });
  }
  return lacking;
}

/** Sessions that pg_dump could not open beside those that are there. */
export async function readFreeConnections(session: PostgresSession): Promise<number> {
  const [row] = await session.query<{ free: number }>(`
    SELECT least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
      (SELECT CASE WHEN rolconnlimit < 0 THEN 100000 ELSE rolconnlimit
        - (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user) END FROM pg_roles WHERE rolname = current_user),
      (SELECT CASE WHEN datconnlimit < 0 THEN 100000 ELSE datconnlimit
        - (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid) END FROM pg_database d WHERE datname = current_database())
    ) AS free`);
  return row?.free ?? 0;
}

/** Statements have no other limit of time; pg_dump sets one for its locks. */
const WAITED_FOR_LOCK = /canceling statement due to (lock|statement) timeout/;

/** A hint for a dump that failed, with the objects that it is about. */
export async function explainDumpFailure(
  { signal }: EngineContext,
  session: PostgresSession,
  { schemas, cpus, said }: { schemas: string[]; cpus: number; said: string[] },
): Promise<{ hint: string; details: string[] }> {
  signal.throwIfAborted();
  if (said.some((line) => WAITED_FOR_LOCK.test(line))) {
    const hint = 'Nothing was stored. Another session was changing a table. Build again when it has ended.';
    return { details: [], hint };
  }
  const lacking = await readLackingRights(session, schemas);
  if (lacking.length > 0) {
    return {
      details: lacking.flatMap(({ names }) => names.map((name) => `not readable: ${name}`)),
      hint: `Nothing was stored. Let an administrator run on the source: ${[...new Set(lacking.map(({ hint }) => hint))].join(' ')}`,
    };
  }
  // Besides this session one for pg_dump, and one for each further reader.
  const free = await readFreeConnections(session);
  if (free < cpus) {
    const fewer = `Use fewer connections: set cpus of the target to ${free} or less, or raise`;
    return {
      details: [
        `the server has room for ${Math.max(0, free)} more connections; a build with ${cpus} cpus needs up to ${cpus}`,
      ],
      hint: `Nothing was stored. ${free < 1 ? 'A build needs two connections: raise' : fewer} max_connections, or the CONNECTION LIMIT of the role or database.`,
    };
  }
  if (await isStandby(session)) return { details: [], hint: `Nothing was stored. ${STANDBY_HINT}` };
  return { details: [], hint: 'Nothing was stored. The message above is that of the server or of pg_dump.' };
}

/**
 * Finds objects that pg_dump silently omits, since the role may not read them.
 * Everybody can read the rest of the catalog, and pg_dump fails where it may not read rows. Options that the server hides
 * are reported, whether there are any or not.
 */
export async function readHidden(
  session: PostgresSession,
): Promise<{ objects: HiddenObjects; warning: WarningEvent }[]> {
  const mappings = await session.query<{ name: string; grant: string | null }>(`
    SELECT format('%s for %s', m.srvname, coalesce(m.usename, 'public')) AS name,
      CASE WHEN m.umuser = 0 AND NOT o.rolsuper THEN format('GRANT %I TO %I', o.rolname, current_user)
        WHEN m.usename = current_user THEN format('GRANT USAGE ON FOREIGN SERVER %I TO %I', m.srvname, current_user) END AS grant
    FROM pg_user_mappings m JOIN pg_foreign_server s ON s.oid = m.srvid JOIN pg_roles o ON o.oid = s.srvowner
    WHERE NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
      AND NOT (m.umuser = 0 AND pg_has_role(s.srvowner, 'USAGE'))
      AND NOT (m.umuser <> 0 AND m.usename = current_user
        AND (pg_has_role(s.srvowner, 'USAGE') OR has_server_privilege(s.oid, 'USAGE')))
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_foreign_server'::regclass AND d.objid = s.oid AND d.deptype = 'e')
    ORDER BY 1`);
  if (mappings.length === 0) return [];
  const objects = {
    kind: 'user mapping option',
    names: mappings.map(({ name }) => name),
    right: mappings.some(({ grant }) => grant === null) ? 'superuser' : 'USAGE, or the role of the owner',
  };
  const grants = [...new Set(mappings.flatMap(({ grant }) => grant ?? []))];
  const help = [...grants, ...(objects.right === 'superuser' ? ['build as a superuser'] : [])].join('; ');
  const message = `The role may not see ${whatIsHidden(objects)}: not in the snapshot. To include them: ${help}`;
  return [{ objects, warning: { event: 'warning', code: 'objects_hidden', message } }];
}
