import { isDeepStrictEqual } from 'node:util';
import {
  bytesOfTable,
  filesOfTable,
  type Manifest,
  type ManifestTable,
} from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { nameOf } from '../../../../text/table-names.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { readLocale, readTables } from '../../catalog/introspect.ts';
import { connect } from '../../connection/connect.ts';
import { readServerIdentity } from '../../connection/identity.ts';
import { quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { majorOf } from '../../connection/tools.ts';
import { type ArchiveDetails, archiveDetails } from '../archive.ts';
import { type Evidence, newEvidence, type RangeEvidence } from './evidence.ts';
import { LEAST_BYTES, readState } from './read-state.ts';
import { mapEvidence } from './record-evidence.ts';
import { readTableMaps } from './table-maps.ts';

/** The files are in the encoding of the source, and a save has that of the destination. */
const ENCODING = 'UTF8';

/**
 * Returns what proves to the first save of a database that tables have the rows of the snapshot which was loaded into it, whole
 * and verified; `null` where nothing does. Nobody uses the database yet.
 */
export async function readLoadedEvidence(
  context: EngineContext,
  { url, manifest }: { url: DatabaseUrl; manifest: Manifest },
): Promise<Evidence | null> {
  const details = archiveDetails(manifest);
  const stored = new Map(
    manifest.tables
      .filter((table) => bytesOfTable(table) >= LEAST_BYTES && isOwn(details.data[table.file.name]))
      .map((table) => [table.name, table]),
  );
  if (stored.size === 0 || details.locale?.encoding !== ENCODING) return null;
  try {
    await using session = await connect(context, url);
    const signs = await readServerIdentity(session);
    await session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { encoding } = await readLocale(session, majorOf(signs.version));
    const tables = (await readTables(session)).filter((table) => {
      const file = stored.get(nameOf(table))?.file.name;
      return file !== undefined && isDeepStrictEqual(details.data[file]?.columns, table.columns);
    });
    const state = encoding === ENCODING ? await readState(session, { signs, tables }) : null;
    if (!state || (await mayHaveWritten(session))) return null;
    const proved = tables.flatMap((table) => {
      const [now, before] = [state.tables.get(table.oid), stored.get(nameOf(table))];
      const ranges = before && rangesOf(before);
      return now && ranges ? [{ table, now, ranges }] : [];
    });
    await session.execute('ROLLBACK');
    const maps = await readTableMaps(session);
    return newEvidence({
      history: state.history,
      xmin: state.xmin,
      tables: proved.map(({ table: { oid }, now, ranges }) => ({
        oid,
        ...now,
        ranges,
        ...mapEvidence(now, maps.get(oid)),
      })),
    });
  } catch (error) {
    context.signal.throwIfAborted();
    // It saves time only.
    if (error instanceof UserError || error instanceof SqlError) return null;
    throw error;
  }
}

/**
 * Reports whether code of the snapshot may have changed rows after they were loaded: a function that a materialized view or
 * a check calls. Others are not called by a load, or must be immutable.
 */
export async function mayHaveWritten(session: PostgresSession): Promise<boolean> {
  const [row] = await session.query<{ calls: boolean }>(`
    WITH RECURSIVE refreshed (oid) AS (
      SELECT oid FROM pg_class WHERE relkind = 'm'
      UNION SELECT v.oid FROM refreshed m JOIN pg_rewrite r ON r.ev_class = m.oid
        JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
        JOIN pg_class v ON v.oid = d.refobjid AND v.relkind = 'v'
    ), called (classid, objid) AS (
      SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r JOIN refreshed m ON m.oid = r.ev_class
      UNION ALL SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE contype = 'c'
    )
    SELECT EXISTS (
      SELECT FROM called c JOIN pg_depend d ON d.classid = c.classid AND d.objid = c.objid
        LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
        JOIN pg_proc p ON p.oid = CASE d.refclassid WHEN 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode::oid END
      WHERE p.provolatile = 'v' AND p.pronamespace <> 'pg_catalog'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e')
    ) AS calls`);
  return row?.calls !== false;
}

/** A root divides its rows between its partitions anew, and an extension has rows of its own. */
function isOwn(data: ArchiveDetails['data'][string] | undefined): boolean {
  return data !== undefined && !data.root && !data.of_extension;
}

/** The places of each file's rows are unknown, so that all files of a table are of the whole, of which the first counts the rows. */
function rangesOf(table: ManifestTable): RangeEvidence[] | null {
  const ranges: RangeEvidence[] = [];
  for (const { sha256, bytes, stored_bytes, stored_sha256 } of filesOfTable(table)) {
    if (stored_sha256 === undefined) return null;
    const rows = ranges.length === 0 ? table.rows : 0;
    ranges.push({ start: null, end: null, rows, file: { sha256, bytes, stored_bytes, stored_sha256 } });
  }
  return ranges;
}

/** Returns the evidence for the name that the database has now: a rename gives it another row in the catalog. */
export async function renamedEvidence(
  server: PostgresSession,
  { evidence, name }: { evidence: Evidence; name: string },
): Promise<Evidence | null> {
  try {
    const [row] = await server.query<{ database: number; created: string }>(
      `SELECT oid::int8 AS database, xmin::text AS created FROM pg_database WHERE datname = ${quoteText(name)}`,
    );
    if (row?.database !== evidence.history.database) return null;
    return { ...evidence, history: { ...evidence.history, created: row.created } };
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return null;
  }
}
