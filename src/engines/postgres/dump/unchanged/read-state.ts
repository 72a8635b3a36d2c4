import { createHash } from 'node:crypto';
import { FIRST_OWN_OID } from '../../catalog/first-own-oid.ts';
import type { CatalogTable } from '../../catalog/introspect.ts';
import type { ServerIdentity } from '../../connection/identity.ts';
import { quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { majorOf } from '../../connection/tools.ts';
import { RANGES_SINCE } from '../ranges.ts';
import type { History } from './evidence.ts';

/** The state of the source in the snapshot of a build. */
export interface SourceState {
  history: History;
  /** Borders of the snapshot, with epochs. */
  xmin: string;
  xmax: string;
  /** Tables whose rows evidence can be about, by oid. */
  tables: Map<number, TableState>;
}

export interface TableState {
  filenode: number;
  shape: string;
}

/** Reading smaller tables costs no more than proving that they need not be read. */
export const LEAST_BYTES = 128 * 1024;

/** Reports whether rows of the table could be proved unchanged on a server that permits it. */
export function isProvable({ bytes, is_heap, row_security, without_rows }: CatalogTable): boolean {
  return bytes >= LEAST_BYTES && is_heap && !row_security && !without_rows;
}

/** Reads the state in the transaction of a build; `null` where nothing could be proved. */
export async function readState(
  session: PostgresSession,
  { signs, tables }: { signs: ServerIdentity; tables: CatalogTable[] },
): Promise<SourceState | null> {
  const large = tables.filter(isProvable);
  if (large.length === 0 || majorOf(signs.version) < RANGES_SINCE) return null;
  const now = await readHistory(session, signs);
  return now && { ...now, tables: await readTableStates(session, large) };
}

/** The history that the session's snapshot is a part of, with its borders; `null` where ids prove nothing. */
export async function readHistory(session: PostgresSession, { system, started }: ServerIdentity) {
  if (system === null) return null;
  const [server] = await session.query<ServerState>(SERVER_QUERY);
  if (!server?.timeline || !server.reset || !isPostgres(server.version)) return null;
  const { database, created, timeline, reset, xmin, xmax } = server;
  const reader = digestOf(server.reader);
  return { history: { database, created, reader, timeline, system, started, reset }, xmin, xmax };
}

interface ServerState {
  version: string;
  database: number;
  created: string;
  reader: unknown;
  /** `null` on a standby, and where an extension changes blocks, values or the plans of queries. */
  timeline: string | null;
  reset: string | null;
  xmin: string;
  xmax: string;
}

/** Functions of the WAL fail on a standby: there the CASE does not reach them. */
const SERVER_QUERY = `
  SELECT version() AS version, d.oid::int8 AS database, d.xmin::text AS created, pg_snapshot_xmin(s)::text AS xmin, pg_snapshot_xmax(s)::text AS xmax,
    CASE WHEN NOT pg_is_in_recovery() AND NOT EXISTS (
      SELECT FROM pg_extension WHERE extname IN ('citus', 'timescaledb', 'pg_surgery', 'anon', 'pg_columnmask')
    ) THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline,
    (SELECT extract(epoch FROM stats_reset)::text FROM pg_stat_bgwriter) AS reset,
    json_build_array(current_user, session_user, (
      SELECT json_agg(json_build_array(r.rolname, r.oid::int8, l.provider, l.label, l.xmin::text) ORDER BY r.oid, l.provider)
      FROM pg_roles r LEFT JOIN pg_shseclabel l ON l.objoid = r.oid AND l.classoid = 'pg_authid'::regclass
      WHERE r.rolname IN (current_user, session_user)
    )) AS reader
  FROM pg_database d, pg_current_snapshot() s WHERE d.datname = current_database()`;

/** Servers with the protocol of PostgreSQL and other storage, or with masks of their own. */
const OTHERS = /greenplum|cloudberry|-yb-|yugabyte|redshift|cockroach|gauss|polar|enterprisedb/i;

function isPostgres(version: string): boolean {
  return /^PostgreSQL \d+/.test(version) && !OTHERS.test(version);
}

async function readTableStates(session: PostgresSession, tables: CatalogTable[]): Promise<Map<number, TableState>> {
  const oids = tables.map(({ oid }) => quoteNumber(oid)).join(', ');
  const relations = await session.query<Relation>(`
    SELECT c.oid::int8 AS oid, c.relfilenode::int8 AS filenode, (
      SELECT json_agg(json_build_array(a.attnum, a.attname, a.atttypid::int8, a.atttypmod, a.attgenerated, a.xmin::text) ORDER BY a.attnum)
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns, (
      SELECT json_agg(json_build_array(l.objsubid, l.provider, l.label, l.xmin::text) ORDER BY l.objsubid, l.provider)
      FROM pg_seclabel l WHERE l.objoid = c.oid AND l.classoid = 'pg_class'::regclass) AS labels
    FROM pg_class c WHERE c.oid IN (${oids}) AND c.relkind = 'r' AND c.relpersistence = 'p' AND c.relfilenode <> 0
      AND has_table_privilege(c.oid, 'SELECT')`);
  const types = await readTypes(session, oids);
  const nulled = new Map(tables.map((table) => [table.oid, [...(table.nulled ?? [])]]));
  return new Map(
    relations.flatMap(({ oid, filenode, columns, labels }) => {
      const used = new Set((columns ?? []).flatMap(([, , type]) => [...(types.get(type) ?? [DOUBTFUL])]));
      return used.has(DOUBTFUL)
        ? []
        : [[oid, { filenode, shape: digestOf([columns, labels, nulled.get(oid), [...used].sort()]) }]];
    }),
  );
}

interface Relation {
  oid: number;
  filenode: number;
  /** Number, name, type, modifier, generation, and the version of the row in the catalog. */
  columns: [number, string, number, number, string, string][] | null;
  /** Security labels, by which extensions mask columns. */
  labels: unknown;
}

const DOUBTFUL = 'doubtful';

/**
 * Output functions whose text depends on the value and on the settings of a reading session only. Not among them: names
 * of objects (`regclass`, `aclitem`), `money`, and functions of extensions, whose libraries may be replaced.
 */
const OUTPUTS = `
  array_out bit_out boolout box_out bpcharout byteaout charout cidout cidr_out circle_out date_out enum_out float4out float8out
  inet_out int2out int2vectorout int4out int8out interval_out json_out jsonb_out jsonpath_out line_out lseg_out macaddr8_out
  macaddr_out multirange_out nameout numeric_out oidout oidvectorout path_out pg_lsn_out pg_snapshot_out point_out poly_out
  range_out record_out textout tidout time_out timestamp_out timestamptz_out timetz_out tsqueryout tsvectorout
  txid_snapshot_out uuid_out varbit_out varcharout xid8out xidout xml_out`.split(/\s+/);

/**
 * Returns what determines the text of each type of a column: the types that it consists of, with the versions of their
 * rows in the catalog. A version that comes back has another transaction: it cannot be mistaken for the former one.
 */
async function readTypes(session: PostgresSession, oids: string): Promise<Map<number, Set<string>>> {
  const outputs = OUTPUTS.filter(Boolean).map(quoteText).join(', ');
  const rows = await session.query<{ root: number; oid: number; state: unknown; known: boolean }>(`
    WITH RECURSIVE used (root, oid) AS (
      SELECT DISTINCT a.atttypid, a.atttypid FROM pg_attribute a
      WHERE a.attrelid IN (${oids}) AND a.attnum > 0 AND NOT a.attisdropped
      UNION
      SELECT u.root, part.oid FROM used u JOIN pg_type t ON t.oid = u.oid CROSS JOIN LATERAL (
        SELECT t.typelem UNION ALL SELECT t.typbasetype
        UNION ALL SELECT r.rngsubtype FROM pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
        UNION ALL SELECT a.atttypid FROM pg_attribute a
          WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
      ) AS part (oid) WHERE part.oid <> 0
    )
    SELECT u.root::int8 AS root, u.oid::int8 AS oid,
      coalesce(p.oid < ${FIRST_OWN_OID} AND p.proname IN (${outputs}), false) AS known,
      CASE WHEN u.oid >= ${FIRST_OWN_OID} THEN json_build_array(t.oid::int8, t.xmin::text,
        (SELECT json_agg(json_build_array(e.oid::int8, e.enumlabel, e.xmin::text) ORDER BY e.oid) FROM pg_enum e WHERE e.enumtypid = t.oid),
        (SELECT json_agg(json_build_array(a.attnum, a.attname, a.atttypid::int8, a.xmin::text) ORDER BY a.attnum) FROM pg_attribute a
          WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0),
        (SELECT json_agg(r.xmin::text) FROM pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)))
      END AS state
    FROM used u LEFT JOIN pg_type t ON t.oid = u.oid LEFT JOIN pg_proc p ON p.oid = t.typoutput`);
  const types = new Map<number, Set<string>>();
  for (const { root, known, state } of rows) {
    const parts = types.get(root) ?? new Set();
    types.set(root, parts);
    if (!known) parts.add(DOUBTFUL);
    else if (state !== null) parts.add(JSON.stringify(state));
  }
  return types;
}

function digestOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
