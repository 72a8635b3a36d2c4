import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { NeededTable } from '../../../results/selected-tables.ts';
import { splitName, tableName } from '../../../text/table-names.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DefinitionsRequest } from '../../facets/restore.ts';
import { findClientTools, toolsForArchive } from '../connection/tools.ts';
import { type ArchiveDetails, archiveDetails, isTableData } from '../dump/archive.ts';
import { type ArchiveEntry, CONTENTS } from '../dump/archive-contents.ts';
import { listArchive } from './list-archive.ts';

/** Foreign keys, partitions and inheritance, as the archive's table of contents has them: of every snapshot, also old ones. */
export async function readNeeds(context: EngineContext, request: DefinitionsRequest): Promise<NeededTable[]> {
  const { manifest, directory } = request;
  const tools = toolsForArchive(await findClientTools(context), manifest.tool_version);
  const archive = join(directory, 'archive');
  await mkdir(archive);
  await writeContents(archive, request);
  return needsOf(await listArchive(context, { tools, archive, directory }), manifest);
}

async function writeContents(archive: string, { manifest, read }: DefinitionsRequest): Promise<void> {
  const file = manifest.files.find(({ name }) => name === CONTENTS);
  if (!file) throw new Error(`the manifest names no ${CONTENTS}`);
  await using output = await open(join(archive, CONTENTS), 'w', 0o600);
  for await (const part of read(file)) await output.appendFile(part);
}

/**
 * Out of what entries depend on: a foreign key on two tables, a partition or an heir on its parent. So does a table with
 * a column of another's row type, which is rare and comes along needlessly.
 */
export function needsOf(entries: ArchiveEntry[], manifest: Manifest): NeededTable[] {
  const tables = tablesIn(entries, archiveDetails(manifest));
  const tablesAmong = (ids: number[]): TableEntry[] => ids.flatMap((id) => tables.get(id) ?? []);
  const references = entries.filter(isForeignKey).flatMap(({ text, needs }): NeededTable[] => {
    const linked = tablesAmong(needs);
    const own = named(linked, text.slice(FOREIGN_KEY.length));
    if (!own) return [];
    const others = linked.filter((table) => table !== own);
    return others.map(({ name }) => ({ table: name, needed_by: own.name, why: 'reference' }));
  });
  const parts = entries.flatMap(({ dumpId, needs }): NeededTable[] => {
    const table = tables.get(dumpId)?.name;
    return table === undefined ? [] : tablesAmong(needs).map(({ name }) => ({ table, needed_by: name, why: 'part' }));
  });
  const partitioned = new Set([...tables.values()].filter(({ hasRows }) => !hasRows).map(({ name }) => name));
  const toPartitions = parts.filter(({ needed_by }) => partitioned.has(needed_by));
  return [...references, ...handedDown(references, toPartitions), ...parts];
}

/** Start of a foreign key's entry, before the referencing table. */
const FOREIGN_KEY = 'FK CONSTRAINT ';

function isForeignKey({ text }: ArchiveEntry): boolean {
  return text.startsWith(FOREIGN_KEY);
}

interface TableEntry {
  name: string;
  /** Schema and name, each followed by a space: the start of entries that belong to the table. */
  words: string;
  /** A partitioned table has none of its own. */
  hasRows: boolean;
}

function tablesIn(entries: ArchiveEntry[], { data, schemas, inventory }: ArchiveDetails): Map<number, TableEntry> {
  const withRows = new Map<number, TableEntry>();
  for (const { oid, schema, table } of Object.values(data)) {
    if (oid !== undefined) withRows.set(oid, tableEntry({ schema, table, hasRows: true }));
  }
  // Archives whose rows were written by pg_dump have an entry for each table instead.
  for (const { dumpId, oid } of entries.filter(isTableData)) {
    const found = data[`${dumpId}.dat`];
    if (found) withRows.set(oid, tableEntry({ schema: found.schema, table: found.table, hasRows: true }));
  }
  const included = new Set(schemas.map(({ name }) => name));
  const others = (inventory.objects.table ?? [])
    .map(splitName)
    .filter(({ schema }) => included.has(schema))
    .map(({ schema, rest }) => tableEntry({ schema, table: rest, hasRows: false }));
  const tables = new Map<number, TableEntry>();
  for (const { dumpId, oid, text } of entries) {
    if (!/^TABLE (?!DATA |ATTACH )/.test(text)) continue;
    const table = withRows.get(oid) ?? named(others, text.slice('TABLE '.length));
    if (table) tables.set(dumpId, table);
  }
  return tables;
}

function tableEntry({ schema, table, hasRows }: { schema: string; table: string; hasRows: boolean }): TableEntry {
  return { name: tableName(schema, table), words: inList(`${schema} ${table} `), hasRows };
}

/** Returns names as pg_restore writes them into a list, which has a line for each entry. */
function inList(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ');
}

/** The table that the text begins with: names may hold spaces, and the longest is the one. */
function named(tables: TableEntry[], text: string): TableEntry | undefined {
  const fitting = tables.filter(({ words }) => `${text} `.startsWith(words));
  return fitting.toSorted((a, b) => b.words.length - a.words.length)[0];
}

/** Returns the references that partitions inherit from their partitioned tables, at whatever depth. */
function handedDown(references: NeededTable[], partitions: NeededTable[]): NeededTable[] {
  if (references.length === 0) return [];
  const byTable = Map.groupBy(references, ({ needed_by }) => needed_by);
  const passed = partitions.flatMap(({ table: partition, needed_by: parent }) =>
    (byTable.get(parent) ?? []).map((reference) => ({ ...reference, needed_by: partition })),
  );
  return [...passed, ...handedDown(passed, partitions)];
}
