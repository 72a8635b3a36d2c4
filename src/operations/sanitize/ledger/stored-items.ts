import { profileOf } from '../../../engines/list.ts';
import type { LocalRepository } from '../../../repository/local-repository.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { LeakThreads } from '../../../sanitize/leaks/leak-threads.ts';
import type { FoundPath } from '../../../sanitize/ledger/document-paths.ts';
import {
  type CatalogColumn,
  hasDocument,
  itemName,
  LARGE_OBJECTS_ITEM,
  type LedgerItem,
  type PathKey,
  type Shape,
} from '../../../sanitize/ledger/ledger-item.ts';
import type { ColumnPlace } from '../../../sanitize/suggestion.ts';
import { formatOf } from '../../snapshots/rows/rows.ts';
import { isDefinition } from '../leaks/definition-files.ts';
import { storedColumns } from '../leaks/leak-sources.ts';
import { objectsOf } from '../leaks/unchanged-tables.ts';

/** A column as it is named in the ledger of its engine. */
export function placeOf(
  { engine }: Pick<Manifest, 'engine'>,
  { schema, table, column }: ColumnPlace,
): Pick<CatalogColumn, 'schema' | 'table' | 'column'> {
  return { schema: profileOf(engine).hasSchemas ? schema : null, table, column };
}

export interface StoredItem extends LedgerItem {
  rows: number;
}

/** The columns that a snapshot stores, and its large objects. */
export function storedItems(manifest: Manifest, columns: CatalogColumn[]): StoredItem[] {
  const types = new Map(columns.map((column) => [itemName(column), column.type]));
  const items = new Map<string, StoredItem>();
  const columnsOf = storedColumns(manifest);
  for (const { name: table, rows } of manifest.tables) {
    for (const place of columnsOf.get(table) ?? []) {
      const name = itemName(placeOf(manifest, place));
      items.set(name, { name, type: types.get(name) ?? 'stored column', rows: rows + (items.get(name)?.rows ?? 0) });
    }
  }
  const contents = manifest.files.filter(({ name, bytes }) => !isDefinition(name) && bytes > 0);
  if (contents.length > 0)
    items.set(LARGE_OBJECTS_ITEM, { name: LARGE_OBJECTS_ITEM, type: 'large objects', rows: contents.length });
  return [...items.values()];
}

export interface StoredPath {
  item: LedgerItem;
  /** Item of the column that has the documents. */
  column: string;
  path: readonly PathKey[];
  values: number;
  sum: number;
}

export interface PathRequest {
  threads: LeakThreads;
  repository: LocalRepository;
  manifest: Manifest;
  columns: CatalogColumn[];
}

/** Finds the keys in the documents of a stored snapshot, by the name of the item. */
export async function storedPaths({
  threads,
  repository,
  manifest,
  columns,
}: PathRequest): Promise<Map<string, StoredPath>> {
  const shapes = new Map(columns.filter(({ shape }) => hasDocument(shape)).map((each) => [itemName(each), each.shape]));
  const columnsOf = storedColumns(manifest);
  const found = new Map<string, StoredPath>();
  await Promise.all(
    manifest.tables.map(async (table) => {
      const places = (columnsOf.get(table.name) ?? []).map((place) => placeOf(manifest, place));
      const own: (Shape | null)[] = places.map((place) => shapes.get(itemName(place)) ?? null);
      if (table.rows === 0 || own.every((shape) => shape === null)) return;
      const rows = { files: objectsOf(repository, table), format: formatOf(manifest) };
      const { paths } = await threads.run({ task: 'paths', rows, shapes: own }, 'paths');
      for (const [at, place] of places.entries()) addPaths(found, place, paths[at] ?? []);
    }),
  );
  return found;
}

function addPaths(
  found: Map<string, StoredPath>,
  place: Pick<CatalogColumn, 'schema' | 'table' | 'column'>,
  paths: FoundPath[],
): void {
  for (const { path, values, sum } of paths) {
    const name = itemName(place, path);
    const before = found.get(name);
    found.set(name, {
      item: { name, type: 'JSON key' },
      column: itemName(place),
      path,
      values: values + (before?.values ?? 0),
      sum: sum + (before?.sum ?? 0),
    });
  }
}
