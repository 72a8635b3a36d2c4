import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { BaseCopy } from '../../../facets/copies.ts';
import type { EarlierSnapshot, RestoreRequest, TableWay } from '../../../facets/restore.ts';
import { isSmall, tableWays } from '../../../shared/table-ways.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';
import { CONTENTS, type ContentsEntry, readContents } from '../../dump/archive-contents.ts';
import { digestDefinitions } from '../../dump/definitions-digest.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { columnsAfter } from '../stored-table.ts';
import { earlierTables } from './compare-tables.ts';
import { NEVER_EQUAL } from './contents.ts';

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

export interface WaysRequest {
  /** The tables that differ. */
  tables: ManifestTable[];
  /** Digests of the base copy's tables, by name. */
  before: Map<string, string>;
  deleted: Record<string, number>;
}

/** Decides from the manifests and definitions which tables are loaded by the rows that differ. */
export async function planWays(
  { request, details, base }: BaseComparison,
  { tables, before, deleted }: WaysRequest,
): Promise<TableWay[]> {
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
async function tablesWithKey(
  { manifest, read }: EarlierSnapshot,
  digest: string | undefined,
): Promise<Set<string> | null> {
  const file = manifest.files.find(({ name }) => name === CONTENTS);
  if (!file) return null;
  const parts: Uint8Array[] = [];
  for await (const part of read(file)) parts.push(part);
  const contents = Buffer.concat(parts);
  const entries = digestDefinitions(contents) === digest ? readContents(contents) : null;
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
