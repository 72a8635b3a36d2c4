import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesOfTable, type Manifest, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DifferencePlan, TableWay } from '../../../facets/restore.ts';
import { noCrashSince } from '../../branches/base-copies.ts';
import { connect } from '../../connection/connect.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';
import { CONTENTS, digestDefinitions } from '../../dump/archive-contents.ts';
import type { BaseContents, BaseMark } from '../../swap/mark.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { ARCHIVE } from '../rows/fill.ts';
import type { FillRun } from '../rows/filling.ts';

/** Input that determines the schema objects of a load: two loads with the same one create the same objects. */
interface LoadedDefinitions {
  manifest: Manifest;
  details: ArchiveDetails;
  /** Digest of the definitions in the archive. */
  definitions: string;
  /** Schemas that are restored. */
  schemas: string[];
  /** With their rows or without. */
  tables: ManifestTable[];
  remoteTables: boolean;
}

export function digestLoaded({ details, definitions, schemas, tables, remoteTables }: LoadedDefinitions): string {
  const leftOut = details.left_out.map(({ kind, name, needs }) => [kind, name, needs].join(' ')).sort();
  const facts = {
    ...{ definitions, leftOut, remoteTables, locale: details.locale },
    schemas: schemas.toSorted(),
    all: details.schemas.map(({ name }) => name).sort(),
    extensions: details.extensions.map(({ name, schema }) => [name, schema].join(' ')).sort(),
    tables: inOrder(tables).map(({ name }) => name),
  };
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

/** Large objects, which are all files but those of tables and the table of contents. */
export function digestOthers({ files }: Manifest): string {
  const others = files.filter(({ name }) => name !== CONTENTS).map(({ name, sha256 }) => `${name} ${sha256}`);
  return createHash('sha256').update(others.sort().join('\n')).digest('hex');
}

/** 128 bits, which no accident makes equal. */
const DIGEST_BYTES = 16;
const DIGEST = 'base64';

/** The content of each table: what is given to COPY, and how. */
export function digestTables(tables: ManifestTable[], details: ArchiveDetails): Map<ManifestTable, string> {
  return new Map(inOrder(tables).map((table) => [table, digestTable(table, details)]));
}

export function digestTable(table: ManifestTable, details: ArchiveDetails): string {
  const { schema, table: name, columns, of_extension, root } = dataOf(table, details);
  const files = filesOfTable(table).map(({ sha256 }) => sha256);
  const facts = [schema, name, columns, of_extension, root?.schema ?? null, root?.table ?? null, table.rows, files];
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest();
  return hash.subarray(0, DIGEST_BYTES).toString('hex');
}

export const NEVER_EQUAL = '00'.repeat(DIGEST_BYTES);

/** In the order of their names; those of `always` are taken for different whatever they contain. */
function writeDigests(digests: Map<ManifestTable, string>, always: Set<string>): string {
  const all = [...digests].map(([{ name }, digest]) => (always.has(name) ? NEVER_EQUAL : digest));
  return Buffer.from(all.join(''), 'hex').toString(DIGEST);
}

/** The digests that were written, by the names of the tables; `null` where they are not of these tables. */
export function readDigests(digests: Map<ManifestTable, string>, written: string): Map<string, string> | null {
  const bytes = Buffer.from(written, DIGEST);
  if (bytes.length !== digests.size * DIGEST_BYTES) return null;
  const digestAt = (index: number): string =>
    bytes.subarray(index * DIGEST_BYTES, (index + 1) * DIGEST_BYTES).toString('hex');
  return new Map([...digests.keys()].map(({ name }, index) => [name, digestAt(index)]));
}

function inOrder(tables: ManifestTable[]): ManifestTable[] {
  return tables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Versions by which indexes may be ordered otherwise than before, or definitions be understood otherwise. */
export const SERVER_QUERY = `
  SELECT concat_ws(' ', current_setting('server_version_num'),
    (SELECT string_agg(DISTINCT pg_collation_actual_version(oid), ' ') FROM pg_collation
      WHERE collnamespace = 'pg_catalog'::regnamespace AND (collprovider = 'c' OR collname = 'und-x-icu'))) AS server`;

/** A function that is not of the server or an extension may read other tables. */
const OWN_FUNCTION = `l.lanname <> 'internal' AND NOT EXISTS (
  SELECT FROM pg_depend m WHERE m.classid = 'pg_proc'::regclass AND m.objid = p.oid AND m.deptype = 'e')`;

/**
 * Query for the tables that store the result of a function, in indexes, checks and generated columns. Such a table
 * must be loaded again whatever its rows, as the function may read a table that differs.
 */
const COMPUTED_QUERY = `
  WITH parts AS (
    SELECT 'pg_class'::regclass AS classid, indexrelid AS objid, indrelid AS relation FROM pg_index
    UNION ALL SELECT 'pg_constraint'::regclass, oid, conrelid FROM pg_constraint WHERE contype IN ('c', 'x')
    UNION ALL SELECT 'pg_attrdef'::regclass, d.oid, d.adrelid FROM pg_attrdef d
      JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE a.attgenerated <> ''
    UNION ALL SELECT 'pg_class'::regclass, partrelid, 0 FROM pg_partitioned_table
  )
  SELECT DISTINCT n.nspname AS schema, c.relname AS "table"
  FROM parts JOIN pg_depend d ON d.classid = parts.classid AND d.objid = parts.objid
    AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
    LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    JOIN pg_proc p ON p.oid = CASE d.refclassid WHEN 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode END
    JOIN pg_language l ON l.oid = p.prolang
    LEFT JOIN pg_class c ON c.oid = parts.relation LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OWN_FUNCTION}
  UNION SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence = 'u'`;

interface Facts {
  extensions: Record<string, string>;
  /** Before version 15 only a superuser can disable them. */
  cloned_triggers: boolean;
}

const FACTS_QUERY = `
  SELECT coalesce((SELECT json_object_agg(extname, extversion) FROM pg_extension), '{}') AS extensions,
    EXISTS (SELECT FROM pg_trigger WHERE tgisinternal AND tgparentid <> 0 AND tgconstraint = 0) AS cloned_triggers`;

const MOST_TABLES = 10_000;

interface DescribeRequest extends LoadedDefinitions {
  role: string | undefined;
  deleted: Record<string, number>;
}

/** Describes the contents of a restored database, for the mark of its base copy; needs a connection to it. */
async function describeContents(session: PostgresSession, loaded: DescribeRequest): Promise<BaseContents | undefined> {
  const { manifest, details, tables, role = null, deleted } = loaded;
  if (tables.length > MOST_TABLES) return undefined;
  const [version] = await session.query<{ server: string }>(SERVER_QUERY);
  const [facts] = await session.query<Facts>(FACTS_QUERY);
  const computed = await session.query<{ schema: string | null; table: string | null }>(COMPUTED_QUERY);
  if (!version || !facts) throw new Error('the catalog gave no row');
  const always = new Set(
    tables
      .filter((table) => {
        const data = dataOf(table, details);
        return computed.some((one) => one.schema === data.schema && one.table === data.table);
      })
      .map(({ name }) => name),
  );
  return {
    server: version.server,
    definitions: digestLoaded(loaded),
    others: digestOthers(manifest),
    sanitized: manifest.sanitized,
    role,
    extensions: facts.extensions,
    tables: writeDigests(digestTables(tables, details), always),
    obstacle: obstacleOf(facts, computed),
    ...(Object.keys(deleted).length > 0 && { deleted }),
  };
}

function obstacleOf({ cloned_triggers }: Facts, computed: { table: string | null }[]): string | null {
  if (cloned_triggers) return 'before PostgreSQL 15, triggers of partitions cannot be disabled';
  if (computed.some(({ table }) => table === null)) return 'a domain or a partition key calls a function of its own';
  return null;
}

export type DescribedBase = Partial<Pick<BaseMark, 'contents' | 'no_crash_since'>>;

/** For the mark of the base copy; no contents where the archive's table of contents is not understood. */
export async function describeBase(
  context: EngineContext,
  fill: FillRun,
  { complete, deleted }: { complete: boolean; deleted: Record<string, number> },
): Promise<DescribedBase> {
  const { manifest, details, plan, directory, remoteTables = false, role } = fill;
  const definitions = complete ? digestDefinitions(await readFile(join(directory, ARCHIVE, CONTENTS))) : null;
  await using session = await connect(context, fill.url, fill);
  const { schemas, tables } = plan;
  const described = { manifest, details, schemas, tables, remoteTables, role, deleted };
  const contents = definitions === null ? undefined : await describeContents(session, { ...described, definitions });
  const since = await noCrashSince(session);
  const changed = fill.afterLoad && { obstacle: 'steps of after_load have changed the base copy' };
  return {
    ...(contents && { contents: { ...contents, ...changed } }),
    ...(since !== null && { no_crash_since: since }),
  };
}

/** Rows deleted from each table since it was loaded whole. */
export function deletedRows(from: DifferencePlan | undefined, ways: TableWay[] = []): Record<string, number> {
  const deleted = new Map(Object.entries(from?.deleted ?? {}));
  for (const { table, way, changed } of ways) {
    const rows = way === 'whole' ? 0 : (deleted.get(table) ?? 0) + (changed?.deleted ?? 0);
    if (rows > 0) deleted.set(table, rows);
    else deleted.delete(table);
  }
  return Object.fromEntries(deleted);
}
