import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { BaseCopy } from '../../../facets/copies.ts';
import type { DifferencePlan, RestoreRequest } from '../../../facets/restore.ts';
import { allWhole, fullLoad, named, tableWays, whyFull, whyOtherData } from '../../../shared/rows/table-ways.ts';
import { type BaseRecord, readBaseRecord } from '../../branches/base/base-record.ts';
import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { DEFINITIONS_FILE, type Details } from '../../details.ts';
import { BASE } from '../../server/names.ts';
import { readAuxiliaryNames } from '../../server/server.ts';
import { readDefinitionsFile } from '../rows/fill.ts';
import { type BaseContents, byProgram, digestColumns, digestRows, earlierTables } from './contents.ts';
import { usableKey } from './usable-key.ts';

export interface BaseComparison {
  request: RestoreRequest;
  details: Details;
  base: BaseCopy;
  tables: ManifestTable[];
  /** The server is on this machine and takes LOAD DATA LOCAL: it takes rows in the time in which it copies them. */
  takesRowsFast: boolean;
}

/** Plans which tables to copy from the base copy and which to load, or gives the reason for a full load. */
export async function planDifference(server: MysqlSession, comparison: BaseComparison): Promise<DifferencePlan> {
  const { request, details, base, tables, takesRowsFast } = comparison;
  const early = whyFull(request, base) ?? byProgram(details) ?? whySlower(comparison);
  if (early !== null) return fullLoad(base, early);
  const names = await readAuxiliaryNames(server, request.url.database ?? '');
  const record = await readBaseRecord(server, { database: names.base, table: BASE, of: names.of });
  const contents = record?.contents;
  if (!contents) return fullLoad(base, 'the base copy has no record of its contents');
  const compared = contents.obstacle ?? whyOtherData(contents, request);
  if (compared !== null) return fullLoad(base, compared);
  const own = await request.earlier?.(request.manifest.id);
  if (!own) return fullLoad(base, 'the definitions of the snapshot are not on this machine yet');
  const { tables: definitions } = (await readDefinitionsFile(own.manifest, own.read, request)).definitions;
  const { differing, before, sameColumns } = compareContents({ record, contents, details, definitions, tables });
  const earlier = differing.length > 0 && base.snapshot !== null ? await request.earlier?.(base.snapshot) : null;
  const byName = new Map(definitions.map((table) => [table.name, table]));
  const ways = tableWays({
    ...{ base, tables: differing, before },
    earlier: earlier ? earlierTables(earlier) : null,
    whyWhole(table) {
      if (!sameColumns.has(table.name)) return 'the base copy has no such table, or other columns';
      return takesRowsFast ? 'the server takes all rows as fast as it copies them' : null;
    },
    hasKey: (table) => keyOf(table, { details, byName }) !== null,
  });
  if (tables.length > 0 && tables.length === differing.length && ways.every(({ way }) => way === 'whole')) {
    return allWhole(base);
  }
  return {
    ...named(base),
    tables: differing.map(({ name }) => name),
    ways,
    deleted: {},
    files: [DEFINITIONS_FILE],
    reason: `the base copy is of snapshot ${base.snapshot ?? 'unknown'}, which has tables with the same columns`,
  };
}

/** Figures: test/bench/README.md. What is saved on a fast server is the next base copy of the tables that do not differ. */
function whySlower({ request, takesRowsFast }: BaseComparison): string | null {
  const keepsBase = request.keepBase !== undefined || request.keepUsedBase;
  return takesRowsFast && !keepsBase
    ? 'the server takes rows as fast as it copies them, and no base copy is kept'
    : null;
}

export function keyOf(
  { file }: ManifestTable,
  { details, byName }: { details: Details; byName: Map<string, TableDefinition> },
): ReturnType<typeof usableKey> {
  const data = details.data[file.name];
  const definition = data && byName.get(data.table);
  return definition ? usableKey(definition, data.columns) : null;
}

export interface ContentsComparison {
  record: BaseRecord;
  contents: BaseContents;
  details: Details;
  definitions: TableDefinition[];
  tables: ManifestTable[];
}

interface ComparedContents {
  differing: ManifestTable[];
  /** Digests of the base copy's rows, by the names of the tables. */
  before: Map<string, string>;
  /** Names of the tables whose rows the base copy has in the same columns. */
  sameColumns: Set<string>;
}

export function compareContents(comparison: ContentsComparison): ComparedContents {
  const { record, contents, details, definitions, tables } = comparison;
  const columns = digestColumns(definitions);
  const described = new Map(contents.tables.map((table) => [table.name, table]));
  const copied = new Set(record.tables.map(({ name }) => name));
  const before = new Map<string, string>();
  const sameColumns = new Set<string>();
  const differing = tables.filter((table) => {
    const name = details.data[table.file.name]?.table ?? '';
    const known = copied.has(name) ? described.get(name) : undefined;
    if (!known || known.columns !== columns.get(name)) return true;
    sameColumns.add(table.name);
    before.set(table.name, known.rows);
    return known.rows !== digestRows(table, details);
  });
  return { differing, before, sameColumns };
}
