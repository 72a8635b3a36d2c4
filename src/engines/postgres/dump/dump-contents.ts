import type { ManifestTable } from '../../../repository/manifest/manifest.ts';
import { nameOf } from '../../../text/table-names.ts';
import type { DumpResult, PackedFile } from '../../facets/dump.ts';
import { dumpCutShort } from '../../shared/source-unreadable.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { type ArchiveDetails, isTableData, TERMINATOR_LINES } from './archive.ts';
import type { ArchiveEntry } from './archive-contents.ts';
import type { DumpSource } from './dump-source.ts';
import { partitionDetails } from './partition-roots.ts';

export interface DumpContents {
  /** By the tables whose rows were read by ranges. */
  tables: Map<CatalogTable, PackedFile[]>;
  /** Files that pg_dump has written. */
  others: Map<string, PackedFile>;
  archive: ArchiveEntry[];
  source: DumpSource;
  definitions: string | null;
}

/** Describes the files of a dump. Throws where the rows of a table are cut short. */
export function describeContents(dumped: DumpContents): Pick<DumpResult, 'tables' | 'files' | 'details' | 'schemas'> {
  const { others, archive, source, definitions } = dumped;
  const byOid = new Map(source.allTables.map((table) => [table.oid, table]));
  const tables: ManifestTable[] = [];
  const data: ArchiveDetails['data'] = {};
  const add = (table: CatalogTable, packed: PackedFile[], more: { oid?: number }): void => {
    if (!packed.every(({ terminated }) => terminated)) throw dumpCutShort(nameOf(table));
    const [file, ...parts] = packed.map((each) => each.file);
    if (!file) throw new Error(`${nameOf(table)} has no file`);
    const rows = packed.reduce((sum, { lines }) => sum + lines - TERMINATOR_LINES, 0);
    tables.push({ name: nameOf(table), rows, file, ...(parts.length > 0 && { parts }) });
    const { schema, name, columns, of_extension } = table;
    data[file.name] = {
      schema,
      table: name,
      columns,
      of_extension,
      ...partitionDetails(source.partitions.get(table.oid)),
      ...more,
    };
  };
  for (const [table, packed] of dumped.tables) add(table, packed, { oid: table.oid });
  for (const entry of archive.filter(isTableData)) {
    const table = byOid.get(entry.oid);
    const content = others.get(`${entry.dumpId}.dat`);
    if (!content || !table) continue;
    others.delete(content.file.name);
    add(table, [content], {});
  }
  tables.sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = [...others.values()].map(({ file }) => file).sort((a, b) => (a.name < b.name ? -1 : 1));
  const schemas = source.details.schemas.map((schema) => schema.name);
  const details = { ...source.details, data, ...(definitions && { definitions }) } satisfies ArchiveDetails;
  return { tables, files, schemas, details };
}
