import type { WarningEvent } from '../../../results/events.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { encodingSettings, type SessionSettings } from '../connection/url.ts';
import type { PostgresDetails } from '../details-schema.ts';

export type Inventory = PostgresDetails['inventory'];
export type DatabaseLocale = PostgresDetails['locale'];

export interface CatalogTable {
  oid: number;
  schema: string;
  name: string;
  /** For COPY, in order, without generated columns. */
  columns: string[];
  /** On disk, without indexes: exact sizes are not known before a dump. */
  bytes: number;
  /** Blocks of the table itself, without those of large values. */
  blocks: number;
  /** Rows are stored in blocks, in the order of their ctid. */
  is_heap: boolean;
  /** Policies may hide rows, which COPY then refuses. */
  row_security: boolean;
  /** The extension's script creates some of its rows. */
  of_extension: boolean;
  /** A dump leaves its rows out. */
  without_rows?: boolean;
  /** Columns that a dump reads as NULL, and the condition of these rows. */
  nulled?: Map<string, string>;
}

export interface CatalogSchema {
  oid: number;
  name: string;
}

export function readSchemas(session: PostgresSession): Promise<CatalogSchema[]> {
  return session.query<CatalogSchema>(`
    SELECT n.oid::int8 AS oid, nspname AS name FROM pg_namespace n
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e')
    ORDER BY nspname`);
}

export function readTables(session: PostgresSession): Promise<CatalogTable[]> {
  return session.query<CatalogTable>(`
    SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name,
      pg_table_size(c.oid) AS bytes, pg_relation_size(c.oid) / current_setting('block_size')::int8 AS blocks,
      EXISTS (SELECT FROM pg_am a WHERE a.oid = c.relam AND a.amname = 'heap') AS is_heap, c.relrowsecurity AS row_security,
      EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') AS of_extension,
      coalesce((SELECT json_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''), '[]'::json) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname !~ '^pg_(catalog|toast|temp)' AND n.nspname <> 'information_schema'
    ORDER BY n.nspname, c.relname`);
}

/** Returns SQL that writes a schema as `table-names.ts` does. */
export function namePartOf(column: string): string {
  return `CASE WHEN ${column} ~ '[.]|^"' THEN '"' || replace(${column}, '"', '""') || '"' ELSE ${column}::text END`;
}

/** Placeholder for the condition on the schema's name. */
const SELECTED = '/* selected */';

/** Objects compared after a restore; each query selects schema, name and catalog row. */
const OBJECTS: Record<string, string> = {
  table: `SELECT relnamespace, relname AS name, 'pg_class'::regclass AS class, oid FROM pg_class WHERE relkind IN ('r', 'p', 'f')`,
  view: `SELECT relnamespace, relname, 'pg_class'::regclass, oid FROM pg_class WHERE relkind IN ('v', 'm')`,
  // pg_dump omits invalid indexes, but not those of partitioned tables.
  index: `SELECT c.relnamespace, c.relname, 'pg_class'::regclass, c.oid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    JOIN pg_class t ON t.oid = i.indrelid WHERE i.indisready AND (i.indisvalid OR t.relkind = 'p')`,
  // The server renames inherited constraints, except of a partition without its parent.
  constraint: `SELECT k.connamespace, concat_ws('.', r.relname, t.typname, k.conname), 'pg_constraint'::regclass, k.oid FROM pg_constraint k
    LEFT JOIN pg_class r ON r.oid = k.conrelid LEFT JOIN pg_type t ON t.oid = k.contypid
    WHERE k.contype IN ('p', 'u', 'f', 'c', 'x') AND (k.conparentid = 0 OR k.contype IN ('p', 'u') AND EXISTS (
      SELECT FROM pg_constraint u JOIN pg_namespace n ON n.oid = u.connamespace
      WHERE u.oid = k.conparentid AND NOT n.nspname ${SELECTED}))`,
  trigger: `SELECT c.relnamespace, c.relname || '.' || t.tgname, 'pg_trigger'::regclass, t.oid FROM pg_trigger t
    JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal`,
  policy: `SELECT c.relnamespace, c.relname || '.' || p.polname, 'pg_policy'::regclass, p.oid FROM pg_policy p
    JOIN pg_class c ON c.oid = p.polrelid`,
  // `_RETURN` is the view itself.
  rule: `SELECT c.relnamespace, c.relname || '.' || r.rulename, 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r
    JOIN pg_class c ON c.oid = r.ev_class WHERE r.rulename <> '_RETURN'`,
  'extended statistics': `SELECT stxnamespace, stxname, 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext`,
  'populated materialized view': `SELECT relnamespace, relname, 'pg_class'::regclass, oid FROM pg_class
    WHERE relkind = 'm' AND relispopulated`,
  'event trigger': `SELECT NULL::oid, evtname, 'pg_event_trigger'::regclass, oid FROM pg_event_trigger`,
  function: `SELECT pronamespace, proname || '(' || pg_get_function_identity_arguments(oid) || ')', 'pg_proc'::regclass, oid FROM pg_proc`,
  type: `SELECT t.typnamespace, t.typname, 'pg_type'::regclass, t.oid FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE t.typtype IN ('e', 'd') OR c.relkind = 'c'`,
};

export const IN_NO_SCHEMA = new Set(['event trigger']);

/** Selects kind, name and `class:oid`, without objects of extensions. */
export function objectsQuery(schemas: string[]): string {
  const within = inList(schemas);
  const union = Object.entries(OBJECTS).map(
    // As text: `name` would be cut at 63 bytes.
    ([kind, sql]) =>
      `SELECT ${quoteText(kind)} AS kind, o.namespace, o.name::text AS name, o.class, o.oid FROM (${sql.replaceAll(SELECTED, () => within)}) AS o (namespace, name, class, oid)`,
  );
  return `
    SELECT kind, concat_ws('.', ${namePartOf('n.nspname')}, name) AS name, o.class::oid || ':' || o.oid AS key
    FROM (${union.join(' UNION ALL ')}) o LEFT JOIN pg_namespace n ON n.oid = o.namespace
    WHERE (o.namespace IS NULL OR n.nspname ${within})
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.deptype = 'e')`;
}

/** https://www.postgresql.org/docs/current/lo-interfaces.html */
export const INV_READ = 0x40000;

/**
 * By functions, since pg_largeobject is for superusers. Each object is closed before the next is opened; the oid
 * beside a reused descriptor prevents cached results. `bytes` is null when some objects are not readable.
 */
export const LARGE_OBJECTS_QUERY = `
  SELECT a.count, CASE WHEN r.count = a.count THEN r.bytes END AS bytes
  FROM (SELECT count(*)::int8 AS count FROM pg_largeobject_metadata) a, (
    SELECT count(c.closed)::int8 AS count, coalesce(sum(s.bytes), 0)::int8 AS bytes FROM (
      SELECT m.oid FROM pg_largeobject_metadata m
      WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) OR pg_has_role(m.lomowner, 'USAGE')
        OR EXISTS (SELECT FROM aclexplode(m.lomacl) g WHERE g.privilege_type = 'SELECT'
          AND (g.grantee = 0 OR pg_has_role(g.grantee, 'USAGE')))
        OR (current_setting('server_version_num')::int8 >= 190000 AND EXISTS (
          SELECT FROM pg_roles r WHERE r.rolname = 'pg_read_all_data' AND pg_has_role(r.oid, 'USAGE')))
      OFFSET 0) m,
      LATERAL (SELECT lo_open(m.oid, ${INV_READ}) AS fd OFFSET 0) o,
      LATERAL (SELECT lo_lseek64(CASE WHEN m.oid <> 0 THEN o.fd END, 0, 2) AS bytes OFFSET 0) s,
      LATERAL (SELECT lo_close(CASE WHEN m.oid <> 0 AND s.bytes >= 0 THEN o.fd END) AS closed OFFSET 0) c) r`;

export async function readHasLargeObjects(session: PostgresSession): Promise<boolean> {
  return (await session.query('SELECT FROM pg_largeobject_metadata LIMIT 1')).length > 0;
}

export interface InventoryRead {
  /** Objects to skip, by `class:oid`. */
  without?: ReadonlySet<string>;
  /** Read before; otherwise as they stand now. */
  sequences?: Inventory['sequences'];
}

export async function readInventory(
  session: PostgresSession,
  schemas: string[],
  { without = new Set(), sequences: before }: InventoryRead = {},
): Promise<Inventory> {
  const rows = await session.query<{ kind: string; name: string; key: string }>(objectsQuery(schemas));
  const objects: Inventory['objects'] = Object.fromEntries(Object.keys(OBJECTS).map((kind) => [kind, []]));
  for (const { kind, name, key } of rows) if (!without.has(key)) objects[kind]?.push(name);
  for (const names of Object.values(objects)) names.sort();
  const sequences = before ?? (await readSequences(session, schemas));
  const [large] = await session.query<{ count: number; bytes: number | null }>(LARGE_OBJECTS_QUERY);
  if (!large || large.bytes === null) return { objects, sequences };
  return { objects, sequences, large_objects: { count: large.count, bytes: large.bytes } };
}

/** A transaction does not hold them: each time they are read they may stand higher. */
export function readSequences(session: PostgresSession, schemas: string[]): Promise<Inventory['sequences']> {
  return session.query(`
    SELECT ${namePartOf('schemaname')} || '.' || sequencename AS name, last_value, increment_by > 0 AS ascending FROM pg_sequences
    WHERE schemaname ${inList(schemas)} ORDER BY 1`);
}

function inList(names: string[]): string {
  return `IN (${names.map(quoteText).join(', ') || 'NULL'})`;
}

export interface Requirement {
  name: string;
  schema: string;
}

/** Without `plpgsql`, which every database has. */
export function readExtensions(session: PostgresSession): Promise<Requirement[]> {
  return session.query<Requirement>(`
    SELECT e.extname AS name, n.nspname AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname <> 'plpgsql' ORDER BY e.extname`);
}

/** `CREATE POLICY … TO role` fails without its role. */
export async function readPolicyRoles(session: PostgresSession, schemas: string[]): Promise<string[]> {
  const rows = await session.query<{ name: string }>(`
    SELECT DISTINCT r.rolname AS name FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.oid = ANY (p.polroles)
    WHERE n.nspname ${inList(schemas)} ORDER BY 1`);
  return rows.map((row) => row.name);
}

/** Excluded from copies, which must not replicate. */
export async function readReplication(session: PostgresSession): Promise<string[]> {
  const rows = await session.query<{ name: string }>(`
    SELECT 'publication ' || pubname AS name FROM pg_publication
    UNION ALL SELECT 'subscription ' || subname FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
    WHERE d.datname = current_database() ORDER BY 1`);
  return rows.map(({ name }) => name);
}

export function replicationWarnings(replication: string[] = []): WarningEvent[] {
  if (replication.length === 0) return [];
  const message = `Publications and subscriptions are not part of a copy: ${replication.join(', ')}`;
  return [{ event: 'warning', code: 'replication_left_out', message }];
}

export async function readEncodingSettings(session: PostgresSession): Promise<SessionSettings> {
  const [row] = await session.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding");
  return row ? encodingSettings(row) : {};
}

/** A restored database needs the same locale for its indexes. */
export async function readLocale(session: PostgresSession, major: number): Promise<DatabaseLocale> {
  const provider = major >= 15 ? 'datlocprovider' : "'c'";
  const icu = major >= 17 ? 'datlocale' : major >= 15 ? 'daticulocale' : 'NULL';
  const [row] = await session.query<DatabaseLocale>(`
    SELECT pg_encoding_to_char(encoding) AS encoding, datcollate AS collate, datctype AS ctype,
      ${provider} AS provider, ${icu} AS icu_locale
    FROM pg_database WHERE datname = current_database()`);
  if (!row) throw new Error('pg_database has no row for the database of the session');
  return row;
}
