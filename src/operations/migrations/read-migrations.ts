import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Database } from '../../engines/open-database.ts';
import { rowOf, type StoredRow, storedRows } from '../../engines/shared/rows/stored-rows.ts';
import {
  bytesOfTable,
  filesOfTable,
  type Manifest,
  type ManifestFile,
  type ManifestTable,
} from '../../repository/manifest/manifest.ts';
import {
  isVersion,
  LONGEST_VERSION,
  type Migrations,
  MOST_MIGRATION_TABLES,
  MOST_VERSIONS,
} from '../../results/manifest/migration-results.ts';
import { splitName } from '../../text/table-names.ts';
import { MIGRATION_TOOLS, type MigrationTool } from './migration-tools.ts';

/** A larger table is none of migrations. */
const MOST_ROWS = 20_000;
const MOST_BYTES = 4 * 1024 * 1024;

type DumpContents = Pick<Manifest, 'tables' | 'details'>;
type Read = (file: ManifestFile) => AsyncIterable<Uint8Array>;

/** The migrations that are applied in a dump, by the stored rows of tables of known programs. */
export async function readMigrations(dump: DumpContents, read: Read): Promise<Migrations[]> {
  const migrations: Migrations[] = [];
  for (const { table, tool, columns } of candidates(dump)) {
    migrations.push(...migrationsOf(tool, table.name, storedRows(await textOf(table, read), columns)));
  }
  return migrations;
}

/** The same of a live database, under the names of the snapshot. */
export async function readLiveMigrations({ connect }: Database, manifest: Manifest): Promise<Migrations[]> {
  const tables = await connect.readSmallTables({
    ...{ manifest, mostTables: MOST_MIGRATION_TABLES, mostRows: MOST_ROWS, longest: LONGEST_VERSION + 1 },
    names: [...new Set(MIGRATION_TOOLS.map(({ table }) => table))],
  });
  return tables.flatMap(({ table, columns, rows }) => {
    const tool = isVersion(table) ? toolOf(splitName(table).rest, columns) : undefined;
    return tool
      ? migrationsOf(
          tool,
          table,
          rows.map((values) => rowOf(columns, (index) => values[index] ?? null)),
        )
      : [];
  });
}

function migrationsOf(tool: MigrationTool, table: string, rows: StoredRow[]): Migrations[] {
  const versions = versionsOf(tool, rows);
  if (versions.length === 0) return [];
  const sha256 = createHash('sha256').update(versions.toSorted().join('\n')).digest('hex');
  return [{ tool: tool.tool, table, count: versions.length, sha256, versions: versions.slice(-MOST_VERSIONS) }];
}

const dataSchema = v.record(
  v.string(),
  v.object({ columns: v.array(v.string()), of_extension: v.exactOptional(v.boolean()) }),
);

interface Candidate {
  table: ManifestTable;
  tool: MigrationTool;
  columns: string[];
}

function candidates({ tables, details }: DumpContents): Candidate[] {
  const data = v.parse(v.optional(dataSchema, {}), details.data);
  const found = tables.flatMap((table): Candidate[] => {
    const { columns, of_extension } = data[table.file.name] ?? { columns: [] };
    const tool = toolOf(splitName(table.name).rest, columns);
    const isSmall = table.rows > 0 && table.rows <= MOST_ROWS && bytesOfTable(table) <= MOST_BYTES;
    return tool && isSmall && !of_extension && isVersion(table.name) ? [{ table, tool, columns }] : [];
  });
  return found.slice(0, MOST_MIGRATION_TABLES);
}

function toolOf(table: string, columns: string[]): MigrationTool | undefined {
  const named = MIGRATION_TOOLS.filter((tool) => tool.table === table.toLowerCase());
  const present = new Set(columns.map((column) => column.toLowerCase()));
  return named.find(
    (tool) =>
      tool.columns.every((column) => present.has(column)) && !tool.without?.some((column) => present.has(column)),
  );
}

async function textOf(table: ManifestTable, read: Read): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (const file of filesOfTable(table)) for await (const chunk of read(file)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

/** Distinct, in the order in which they were applied. */
function versionsOf({ version, order = [] }: MigrationTool, rows: StoredRow[]): string[] {
  const ordered = rows
    .map((row) => ({ name: version(row), by: order.map((column) => row[column] ?? '') }))
    .filter((each): each is { name: string; by: string[] } => each.name !== null && isVersion(each.name))
    .sort((a, b) => compareAll([...a.by, a.name], [...b.by, b.name]));
  return [...new Set(ordered.map(({ name }) => name))];
}

const collator = new Intl.Collator('en', { numeric: true });

function compareAll(a: string[], b: string[]): number {
  for (const [index, text] of a.entries()) {
    const difference = collator.compare(text, b[index] ?? '');
    if (difference !== 0) return difference;
  }
  return 0;
}
