import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { NeededTable } from '../../../results/selected-tables.ts';
import { tableName } from '../../../text/table-names.ts';
import type { DefinitionsRequest } from '../../facets/restore.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { archiveDetails, readStoredContents } from '../dump/archive.ts';
import { type ArchiveEntry, listContents } from '../dump/archive-contents.ts';

/** Foreign keys, partitions and inheritance, as the archive's table of contents has them: of every snapshot, also old ones. */
export async function readNeeds(request: DefinitionsRequest): Promise<NeededTable[]> {
  const contents = await readStoredContents(request);
  const entries = contents && listContents(contents);
  if (!entries) throw restoreFailed('The format of the archive is not known', [], 'Update this program.');
  return needsOf(entries, request.manifest);
}

/**
 * Out of what entries depend on: a foreign key on two tables, a partition or an heir on its parent. So does a table with
 * a column of another's row type, which is rare and comes along needlessly.
 */
export function needsOf(entries: ArchiveEntry[], manifest: Manifest): NeededTable[] {
  const tables = new Map(entries.filter(({ kind }) => kind === 'TABLE').map((entry) => [entry.dumpId, entry]));
  const tablesAmong = (ids: number[]): ArchiveEntry[] => ids.flatMap((id) => tables.get(id) ?? []);
  const keys = entries.filter(({ kind }) => kind === 'FK CONSTRAINT');
  const references = keys.flatMap(({ schema, tag, needs }): NeededTable[] => {
    const linked = tablesAmong(needs);
    // Names may hold spaces, and the longest is the one.
    const fitting = linked.filter((table) => table.schema === schema && tag.startsWith(`${table.tag} `));
    const [own] = fitting.toSorted((a, b) => b.tag.length - a.tag.length);
    if (!own) return [];
    const others = linked.filter((table) => table !== own);
    return others.map((table) => ({ table: nameOf(table), needed_by: nameOf(own), why: 'reference' }));
  });
  const parts = [...tables.values()].flatMap((table) =>
    tablesAmong(table.needs).map(
      (parent): NeededTable => ({ table: nameOf(table), needed_by: nameOf(parent), why: 'part' }),
    ),
  );
  const withRows = new Set(
    Object.values(archiveDetails(manifest).data).map(({ schema, table }) => tableName(schema, table)),
  );
  const toPartitions = parts.filter(({ needed_by }) => !withRows.has(needed_by));
  return [...references, ...handedDown(references, toPartitions), ...parts];
}

function nameOf({ schema, tag }: ArchiveEntry): string {
  return tableName(schema, tag);
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
