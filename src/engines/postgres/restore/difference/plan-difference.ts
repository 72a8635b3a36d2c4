import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { BaseCopy } from '../../../facets/copies.ts';
import type { DifferencePlan, EarlierSnapshot, RestoreRequest } from '../../../facets/restore.ts';
import {
  allWhole,
  fullLoad,
  isSmall,
  named,
  tableWays,
  whyFull,
  whyOtherData,
} from '../../../shared/rows/table-ways.ts';
import { quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { type ArchiveDetails, readStoredContents } from '../../dump/archive.ts';
import { CONTENTS, type ContentsEntry, digestDefinitions, readContents } from '../../dump/archive-contents.ts';
import { findAuxiliaryDatabases } from '../../server/server.ts';
import type { BaseContents } from '../../swap/mark.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { columnsAfter } from '../stored-table.ts';
import { earlierTables } from './compare-tables.ts';
import { digestLoaded, digestOthers, digestTables, NEVER_EQUAL, readDigests, SERVER_QUERY } from './contents.ts';

/** Plans which tables to load into a copy of the base copy, or gives the reason for a full load. */
export async function planDifference(server: PostgresSession, comparison: BaseComparison): Promise<DifferencePlan> {
  const { base } = comparison;
  const full = (reason: string): DifferencePlan => fullLoad(base, reason);
  const early = whyFull(comparison.request, base);
  if (early !== null) return full(early);
  if (comparison.details.definitions === undefined)
    return full('the snapshot was built by an older version, without a digest of its definitions');
  const { base: marked } = await findAuxiliaryDatabases(server, comparison.destination);
  const contents = marked?.mark.contents;
  if (!contents) return full('the base copy has no record of its contents');
  const compared = compare(contents, comparison);
  if (typeof compared === 'string') return full(compared);
  const changed = await whyServerDiffers(server, { contents, base, destination: comparison.destination });
  if (changed !== null) return full(changed);
  const tables = withRoots(compared.differing, comparison);
  if (tables.some((table) => dataOf(table, comparison.details).of_extension)) {
    return full('rows of a table of an extension differ');
  }
  const ways = await planWays(comparison, { tables, before: compared.before, deleted: contents.deleted ?? {} });
  if (tables.length > 0 && tables.length === comparison.tables.length && ways.every(({ way }) => way === 'whole')) {
    return allWhole(base);
  }
  return {
    ...named(base),
    tables: tables.map(({ name }) => name),
    ways,
    deleted: contents.deleted ?? {},
    files: [CONTENTS],
    reason: `the base copy is of snapshot ${base.snapshot ?? 'unknown'}, which has the same definitions`,
  };
}

function compare(contents: BaseContents, { request, details, schemas, tables }: BaseComparison) {
  const { manifest, remoteTables = false, role = null } = request;
  if (contents.obstacle !== null) return contents.obstacle;
  const other = whyOtherData(contents, request);
  if (other !== null) return other;
  if (contents.role !== role) return 'the owner of the objects differs';
  const definitions = details.definitions ?? '';
  const loaded = { manifest, details, definitions, schemas, tables, remoteTables };
  if (contents.definitions !== digestLoaded(loaded)) return 'the definitions differ from those of the base copy';
  if (contents.others !== digestOthers(manifest)) return 'large objects differ from those of the base copy';
  const digests = digestTables(tables, details);
  const before = readDigests(digests, contents.tables);
  if (!before) return 'the base copy has other tables';
  return { before, differing: [...digests.keys()].filter((table) => digests.get(table) !== before.get(table.name)) };
}

async function whyServerDiffers(
  server: PostgresSession,
  { contents, base, destination }: { contents: BaseContents; base: BaseCopy; destination: string },
): Promise<string | null> {
  const [version] = await server.query<{ server: string }>(SERVER_QUERY);
  if (version?.server !== contents.server) return 'the server was updated after the base copy was made';
  const [row] = await server.query<{ available: Record<string, string>; owner: boolean; tablespace: boolean }>(`
    SELECT coalesce((SELECT json_object_agg(name, default_version) FROM pg_available_extensions), '{}') AS available,
      b.datdba = d.datdba AS owner, b.dattablespace = d.dattablespace AS tablespace
    FROM pg_database b, pg_database d WHERE b.datname = ${quoteText(base.name)} AND d.datname = ${quoteText(destination)}`);
  if (!row?.owner) return 'the destination has another owner than the base copy';
  if (!row.tablespace) return 'the destination is in another tablespace than the base copy';
  const updated = Object.entries(contents.extensions).find(([name, version]) => row.available[name] !== version);
  return updated ? `the server has another version of extension ${updated[0]} than the base copy` : null;
}

/** Rows that go through a partitioned table belong to several tables, which are loaded together. */
function withRoots(differing: ManifestTable[], { details, tables }: BaseComparison): ManifestTable[] {
  const rootOf = (table: ManifestTable): string | null => {
    const { root } = dataOf(table, details);
    return root ? JSON.stringify([root.schema, root.table]) : null;
  };
  const roots = new Set(differing.map(rootOf).filter((root) => root !== null));
  const names = new Set(differing.map(({ name }) => name));
  return tables.filter((table) => names.has(table.name) || roots.has(rootOf(table) ?? ''));
}

export interface BaseComparison {
  request: RestoreRequest;
  details: ArchiveDetails;
  destination: string;
  base: BaseCopy;
  schemas: string[];
  tables: ManifestTable[];
}

/** Bytes of the names of all columns, which are an argument of psql. */
const MOST_NAME_BYTES = 64 * 1024;

/** Share of rows whose space deleted rows may take: a base copy is never vacuumed. */
const MOST_DELETED = 0.2;

interface WaysRequest {
  /** The tables that differ. */
  tables: ManifestTable[];
  /** Digests of the base copy's tables, by name. */
  before: Map<string, string>;
  deleted: Record<string, number>;
}

/** Decides from the manifests and definitions which tables are loaded by the rows that differ. */
async function planWays({ request, details, base }: BaseComparison, { tables, before, deleted }: WaysRequest) {
  const whyWhole = (table: ManifestTable): string | null => {
    const data = dataOf(table, details);
    if (before.get(table.name) === NEVER_EQUAL) return 'it is unlogged, or stores results of functions';
    if (Buffer.byteLength(JSON.stringify(data.columns)) > MOST_NAME_BYTES) return 'it has very many columns';
    if (data.of_extension || data.root) return 'its rows go through a partitioned table';
    if ((deleted[table.name] ?? 0) > MOST_DELETED * table.rows)
      return 'many of its rows were replaced since it was loaded';
    return null;
  };
  const isCandidate = tables.some((table) => !isSmall(table) && whyWhole(table) === null);
  const snapshot = isCandidate && base.snapshot !== null ? await request.earlier?.(base.snapshot) : null;
  // A damaged snapshot does not keep its tables from being loaded whole.
  const keyed = snapshot ? await tablesWithKey(snapshot, details.definitions).catch(() => null) : null;
  return tableWays({
    ...{ base, tables, before, whyWhole },
    earlier: snapshot ? earlierTables(snapshot, details) : null,
    hasKey(table) {
      const { schema, table: name } = dataOf(table, details);
      return keyed?.has(JSON.stringify([schema, name])) ?? null;
    },
  });
}

/** Names of the tables with a key, as JSON; `null` where the definitions are unreadable. The server verifies the keys. */
async function tablesWithKey(snapshot: EarlierSnapshot, digest: string | undefined): Promise<Set<string> | null> {
  const contents = await readStoredContents(snapshot);
  const entries = contents && digestDefinitions(contents) === digest ? readContents(contents) : null;
  if (!entries) return null;
  const keyed = [...entries.values()].flatMap((entry) => {
    const own = entry.needs.map((id) => entries.get(id)).find((needed) => needed?.kind === 'TABLE');
    return own && isKey(entry, own) ? [JSON.stringify([own.schema, own.tag])] : [];
  });
  return new Set(keyed);
}

function isKey({ kind, definition }: ContentsEntry, table: ContentsEntry): boolean {
  if (/ (DEFERRABLE|WHERE|WITHOUT OVERLAPS)\b/.test(definition)) return false;
  if (kind === 'CONSTRAINT' && columnsAfter(definition, ' PRIMARY KEY (').length > 0) return true;
  const columns =
    kind === 'CONSTRAINT'
      ? columnsAfter(definition, ' UNIQUE (')
      : kind === 'INDEX' && definition.startsWith('CREATE UNIQUE INDEX ')
        ? columnsAfter(definition, ' USING btree (')
        : [];
  return columns.length > 0 && columns.every((column) => isNotNull(column, table));
}

/** pg_dump writes each column on a line. */
function isNotNull(column: string, { definition }: ContentsEntry): boolean {
  const names = [`    ${column} `, `    "${column.replaceAll('"', '""')}" `];
  return definition
    .split('\n')
    .some((line) => names.some((name) => line.startsWith(name)) && /\bNOT NULL\b/.test(line));
}
