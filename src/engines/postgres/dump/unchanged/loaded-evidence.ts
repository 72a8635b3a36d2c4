import { isDeepStrictEqual } from 'node:util';
import {
  bytesOfTable,
  filesOfTable,
  type Manifest,
  type ManifestTable,
} from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
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
import { nameOf } from '../dump-progress.ts';
import { type Evidence, newEvidence, type RangeEvidence } from './evidence.ts';
import { LEAST_BYTES, readState } from './read-state.ts';

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
    if (!state) return null;
    const proved = tables.flatMap((table) => {
      const [now, before] = [state.tables.get(table.oid), stored.get(nameOf(table))];
      const ranges = before && rangesOf(before);
      return now && ranges ? [{ oid: table.oid, ...now, ranges }] : [];
    });
    return newEvidence({ history: state.history, xmin: state.xmin, tables: proved });
  } catch (error) {
    context.signal.throwIfAborted();
    // It saves time only.
    if (error instanceof UserError || error instanceof SqlError) return null;
    throw error;
  }
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
