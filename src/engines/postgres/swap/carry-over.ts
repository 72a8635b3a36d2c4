import { redact } from '../../../process/redact.ts';
import { boundedLines, boundedList } from '../../../text/bounded-list.ts';
import type { EngineContext } from '../../engine-context.ts';
import { FIRST_OWN_OID } from '../catalog/first-own-oid.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { OWNABLE, systemObjects } from './ownable.ts';

/** Owners, grants and default privileges of a database; only SQL reads what is in the lists. */
export interface ObjectOwnership {
  objects: unknown[];
  defaults: unknown[];
}

/** Privileges as JSON, and as text that is equal for equal ones. */
const entriesOf = (acl: string): string => `
  SELECT json_agg(json_build_object('grantee', CASE WHEN a.grantee <> 0 THEN pg_get_userbyid(a.grantee) END,
      'privilege', a.privilege_type, 'grantable', a.is_grantable)) AS entries,
    coalesce(string_agg(format('%s %s %s', a.grantee, a.privilege_type, a.is_grantable), ','
      ORDER BY format('%s %s %s', a.grantee, a.privilege_type, a.is_grantable)), '') AS signature
  FROM aclexplode(${acl}) a WHERE a.grantee = 0 OR EXISTS (SELECT FROM pg_roles r WHERE r.oid = a.grantee)`;

/** Reads them in the database that is to be replaced. */
export async function readOwnership(session: PostgresSession): Promise<ObjectOwnership> {
  const objects = await session.query<unknown>(`
    SELECT o.granted_on, o.identity, NULL AS "column", NULL::int8 AS system, o.owner::int8 AS owner, e.entries, e.signature
    FROM (${OWNABLE}) o, LATERAL (${entriesOf('o.acl')}) e WHERE o.granted_on IS NOT NULL
    UNION ALL
    SELECT o.granted_on, o.identity, NULL, o.objid::int8, o.owner::int8, e.entries, e.signature
    FROM (${systemObjects(null)}) o, LATERAL (${entriesOf('o.acl')}) e
    UNION ALL
    SELECT 'TABLE', i.identity, quote_ident(a.attname), NULL, c.relowner::int8, e.entries, e.signature
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid, pg_identify_object('pg_class'::regclass, c.oid, 0) i,
      LATERAL (${entriesOf('a.attacl')}) e
    WHERE a.attacl IS NOT NULL AND NOT a.attisdropped AND c.relnamespace <> 'pg_catalog'::regnamespace`);
  const defaults = await session.query<unknown>(`
    SELECT pg_get_userbyid(d.defaclrole) AS role, n.nspname AS schema, d.defaclobjtype AS kind, e.entries
    FROM pg_default_acl d LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace,
      LATERAL (${entriesOf('d.defaclacl')}) e`);
  return { objects, defaults };
}

/**
 * Settings of sessions that join catalogs with the lists: the server expects 100 entries in a list of any length, and would
 * read the whole list again for each object.
 */
export const JOINING_LISTS = { enable_nestloop: 'off', jit: 'off' };

const GRANTS = `
  SELECT e.grantee, e.grantable, string_agg(e.privilege || columns.list, ', ' ORDER BY e.privilege) AS privileges
  FROM json_to_recordset(o.entries) AS e (grantee text, privilege text, grantable boolean)`;

/** Names in ALTER DEFAULT PRIVILEGES for the kinds of `pg_default_acl`. */
const DEFAULTS_ON = `(VALUES ('r', 'TABLES'), ('S', 'SEQUENCES'), ('f', 'ROUTINES'), ('T', 'TYPES'), ('n', 'SCHEMAS'), ('L', 'LARGE OBJECTS')) AS k (kind, name)`;

const grantee = (column: string): string => `CASE WHEN ${column} IS NULL THEN 'PUBLIC' ELSE quote_ident(${column}) END`;
const option = `CASE WHEN g.grantable THEN ' WITH GRANT OPTION' ELSE '' END`;

export interface CarryOverOptions {
  /** New owner of the new database's objects that belong to the session's role. */
  owner: string;
  ownership: ObjectOwnership | null;
  /** The new database is a copy, whose grants may have been revoked since in the one that is replaced. */
  copied?: boolean | undefined;
}

/**
 * Queries whose rows are the statements that make a new database usable by those who used the old one; to be run in
 * this order, each after the statements of the one before. The server puts the statements together from its catalog.
 */
export function carryOverQueries({ owner, ownership, copied = false }: CarryOverOptions): string[] {
  const name = quoteText(owner);
  const own = `SELECT oid FROM pg_roles WHERE rolname = current_user`;
  const transfer = `
    SELECT format('ALTER %s %s OWNER TO %I', o.alter, o.identity, ${name}) AS statement FROM (${OWNABLE}) o
    WHERE o.owner = (${own}) AND current_user <> ${name} AND NOT o.of_extension AND NOT o.follows_table
      AND NOT (o.alter = 'SCHEMA' AND o.identity = 'public')
    ORDER BY o.rank, o.objid`;
  // Before version 18 they do not follow their ranges.
  const multiranges = `
    SELECT format('ALTER TYPE %s OWNER TO %I', i.identity, ${name}) AS statement
    FROM pg_type t, pg_identify_object('pg_type'::regclass, t.oid, 0) i
    WHERE t.typtype = 'm' AND t.typowner = (${own}) AND current_user <> ${name} AND t.oid >= ${FIRST_OWN_OID}
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e')`;
  if (!ownership) return [transfer, multiranges];
  const objects = `json_to_recordset(${quoteText(JSON.stringify(ownership.objects))})
    AS o (granted_on text, identity text, "column" text, system int8, owner int8, entries json, signature text)`;
  const defaults = `json_to_recordset(${quoteText(JSON.stringify(ownership.defaults))})
    AS o (role text, schema text, kind text, entries json)`;
  const publicSchema = `
    SELECT format('ALTER SCHEMA public OWNER TO %I', pg_get_userbyid(o.owner::oid)) AS statement
    FROM ${objects} JOIN pg_namespace n ON n.nspname = 'public' AND n.nspowner <> o.owner::oid
    WHERE o.granted_on = 'SCHEMA' AND o.identity = 'public'`;
  const listed = `t.oid IN (SELECT o.system::oid FROM ${objects} WHERE o.system IS NOT NULL)`;
  const matched = `
    ${objects} JOIN (
      SELECT f.granted_on, f.identity, NULL AS "column", f.owner, NULL::aclitem[] AS system, e.signature
      FROM (${OWNABLE}) f, LATERAL (${entriesOf('f.acl')}) e
      UNION ALL
      SELECT f.granted_on, f.identity, NULL, f.owner, f.acl, e.signature
      FROM (${systemObjects(listed)}) f, LATERAL (${entriesOf('f.acl')}) e WHERE pg_has_role(f.owner, 'USAGE')
      UNION ALL
      SELECT 'TABLE', i.identity, quote_ident(a.attname), c.relowner, NULL, ''
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relnamespace <> 'pg_catalog'::regnamespace,
        pg_identify_object('pg_class'::regclass, c.oid, 0) i
      WHERE a.attnum <> 0 AND NOT a.attisdropped
    ) f ON f.granted_on = o.granted_on AND f.identity = o.identity AND f."column" IS NOT DISTINCT FROM o."column"
      AND f.signature <> o.signature`;
  // Who owns the object now and did before has what was left to the owner then; a new owner has everything.
  const revokes = `
    SELECT format('REVOKE ALL ON %s %s FROM PUBLIC%s%s', o.granted_on, f.identity,
      CASE WHEN f.owner = o.owner::oid THEN format(', %I', pg_get_userbyid(f.owner)) END,
      (SELECT string_agg(format(', %I', pg_get_userbyid(a.grantee)), '') FROM aclexplode(f.system) a WHERE a.grantee NOT IN (0, f.owner))) AS statement
    FROM ${matched} WHERE o."column" IS NULL`;
  const grants = `
    SELECT format('GRANT %s ON %s %s TO %s%s', g.privileges, o.granted_on, f.identity, ${grantee('g.grantee')}, ${option}) AS statement
    FROM ${matched}, LATERAL (SELECT coalesce(' (' || o."column" || ')', '') AS list) columns,
      LATERAL (${GRANTS} WHERE e.grantee IS NULL OR f.owner = o.owner::oid OR e.grantee <> pg_get_userbyid(f.owner)
        GROUP BY 1, 2) g`;
  const whose = `format('ALTER DEFAULT PRIVILEGES FOR ROLE %I%s', o.role, CASE WHEN o.schema IS NOT NULL THEN format(' IN SCHEMA %I', o.schema) END)`;
  // Those of a schema only add; those of the whole database replace what the server has by itself.
  const defaultRevokes = `
    SELECT format('%s REVOKE ALL ON %s FROM PUBLIC, %I', ${whose}, k.name, o.role) AS statement
    FROM ${defaults} JOIN ${DEFAULTS_ON} ON k.kind = o.kind WHERE o.schema IS NULL`;
  const defaultGrants = `
    SELECT format('%s GRANT %s ON %s TO %s%s', ${whose}, g.privileges, k.name, ${grantee('g.grantee')}, ${option}) AS statement
    FROM ${defaults} JOIN ${DEFAULTS_ON} ON k.kind = o.kind, LATERAL (SELECT '' AS list) columns, LATERAL (${GRANTS} GROUP BY 1, 2) g`;
  // As if the owner had just created them in the database that is replaced.
  const ofNewObjects = `
    SELECT DISTINCT format('GRANT %s ON %s %s TO %s%s', a.privilege_type, f.granted_on, f.identity,
      CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
      CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS statement
    FROM (${OWNABLE}) f JOIN pg_default_acl d ON d.defaclrole = f.owner AND (d.defaclnamespace = 0 OR d.defaclnamespace = f.namespace)
      AND d.defaclobjtype = CASE f.defaults WHEN 's' THEN 'S' WHEN 'S' THEN NULL ELSE f.defaults END, aclexplode(d.defaclacl) a
    WHERE NOT f.of_extension AND a.grantee <> f.owner AND f.identity <> 'public'
      AND (f.granted_on, f.identity) NOT IN (SELECT o.granted_on, o.identity FROM ${objects})`;
  const former = copied ? formerGrants({ objects, whose }) : [];
  return [transfer, multiranges, publicSchema, ...former, revokes, grants, defaultRevokes, defaultGrants, ofNewObjects];
}

/**
 * Revokes what others are granted in a copy, on objects with other grants in the database that is replaced, and all
 * default privileges; what that database has is granted afterwards.
 */
function formerGrants({ objects, whose }: { objects: string; whose: string }): string[] {
  const others = (acl: string, owner: string): string => `
    SELECT string_agg(DISTINCT quote_ident(pg_get_userbyid(a.grantee)), ', ') AS roles
    FROM aclexplode(${acl}) a WHERE a.grantee NOT IN (0, ${owner})`;
  const ofObjects = `
    SELECT format('REVOKE ALL ON %s %s FROM %s', f.granted_on, f.identity, g.roles) AS statement
    FROM (${OWNABLE}) f JOIN ${objects} ON o.granted_on = f.granted_on AND o.identity = f.identity AND o."column" IS NULL,
      LATERAL (${entriesOf('f.acl')}) e, LATERAL (${others('f.acl', 'f.owner')}) g
    WHERE g.roles IS NOT NULL AND e.signature <> o.signature`;
  const ofColumns = `
    SELECT format('REVOKE ALL (%I) ON TABLE %s FROM %s', a.attname, i.identity, g.roles) AS statement
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid, pg_identify_object('pg_class'::regclass, c.oid, 0) i,
      LATERAL (${others('a.attacl', 'c.relowner')}) g
    WHERE a.attacl IS NOT NULL AND NOT a.attisdropped AND c.relnamespace <> 'pg_catalog'::regnamespace AND g.roles IS NOT NULL
      AND EXISTS (SELECT FROM ${objects} WHERE o.granted_on = 'TABLE' AND o.identity = i.identity)`;
  const defaults = `
    SELECT format('%s %s', ${whose}, v.rest) AS statement
    FROM (
      SELECT pg_get_userbyid(d.defaclrole) AS role, n.nspname AS schema, k.name, k.kind, d.defaclacl, d.defaclrole
      FROM pg_default_acl d JOIN ${DEFAULTS_ON} ON k.kind = d.defaclobjtype LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace
    ) o, LATERAL (
      SELECT format('REVOKE ALL ON %s FROM %s', o.name, string_agg(DISTINCT ${grantee('r.rolname')}, ', ')) AS rest
      FROM aclexplode(o.defaclacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
      UNION ALL SELECT format('GRANT ALL ON %s TO %I', o.name, o.role) WHERE o.schema IS NULL
      UNION ALL SELECT format('GRANT ALL ON %s TO PUBLIC', o.name) WHERE o.schema IS NULL AND o.kind IN ('f', 'T')
    ) v WHERE v.rest IS NOT NULL`;
  return [ofObjects, ofColumns, defaults];
}

/** A query for the names of objects that others were granted something on, and that the new database does not have. */
export function lostGrantsQuery({ objects }: ObjectOwnership): string {
  return `
    SELECT DISTINCT lower(o.granted_on) || ' ' || o.identity AS name
    FROM json_to_recordset(${quoteText(JSON.stringify(objects))}) AS o (granted_on text, identity text, system int8, owner int8, entries json)
    WHERE o.system IS NULL AND EXISTS (SELECT FROM json_to_recordset(o.entries) AS e (grantee text) WHERE e.grantee <> pg_get_userbyid(o.owner::oid))
      AND NOT EXISTS (SELECT FROM (${OWNABLE}) f WHERE f.granted_on = o.granted_on AND f.identity = o.identity)
    ORDER BY 1`;
}

/** Runs the statements that the queries put together, each by itself, and returns what the server refused. */
export async function runCarryOver(session: PostgresSession, carrying: CarryOverOptions): Promise<string[]> {
  const failures: string[] = [];
  for (const query of carryOverQueries(carrying)) {
    const rows = await session.query<{ statement: string }>(query);
    for (const { statement } of rows) {
      const failure = await attempt(session, statement);
      if (failure) failures.push(failure);
    }
  }
  return failures;
}

/** Executes the statement. Returns the statement and the server's message when the server refuses it, else `null`. */
export async function attempt(session: PostgresSession, statement: string): Promise<string | null> {
  try {
    await session.execute(statement);
    return null;
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return `${statement}: ${redact(error.message).replace(/^ERROR:\s*/, '')}`;
  }
}

const NAMED = 5;

/** One warning for all that could not be carried over to the new database. */
export function warnNotCarried({ report }: Pick<EngineContext, 'report'>, failures: string[]): void {
  if (failures.length === 0) return;
  const message = `Could not carry over ${failures.length === 1 ? '1 setting, owner or grant' : `${failures.length} settings, owners or grants`}: ${boundedLines(failures, NAMED).join('; ')}`;
  report({ event: 'warning', code: 'not_carried_over', message });
}

export function warnLostGrants({ report }: Pick<EngineContext, 'report'>, names: string[]): void {
  if (names.length === 0) return;
  const message = `Grants on objects that the new database does not have were not carried over: ${boundedList(names, NAMED)}`;
  report({ event: 'warning', code: 'not_carried_over', message });
}
