import type { DifferingRows } from '../../engines/facets/changes.ts';
import { profileOf } from '../../engines/list.ts';
import type { Database } from '../../engines/open-database.ts';
import type { Manifest, ManifestTable } from '../../repository/manifest/manifest.ts';
import type { ComparedStates } from './compare-states.ts';

/** Both states of the rows that differ from the base copy, in memory; `null` where these cannot be told without reading all. */
export async function statesByBase(
  { restore }: Pick<Database, 'restore'>,
  { loaded, destination }: { loaded: Manifest; destination: string | null },
): Promise<ComparedStates | null> {
  const changes = await restore.readBaseChanges({ manifest: loaded, destination });
  if (!changes) return null;
  const byName = new Map(changes.tables.map((table) => [table.table, table]));
  const rows = new Map<string, Buffer>();
  const stateOf = (side: 'removed' | 'added'): Manifest => ({
    ...loaded,
    tables: loaded.tables.map((table) => withRows(table, side, byName.get(table.name))),
  });
  const withRows = (table: ManifestTable, side: 'removed' | 'added', differing?: DifferingRows): ManifestTable => {
    if (!differing) return table;
    const { parts: _, ...whole } = table;
    const key = `${side} ${table.name}`;
    rows.set(key, differing[side]);
    const bytes = differing[side].length + profileOf(loaded.engine).rows.endBytes;
    return { ...whole, file: { ...table.file, sha256: key, bytes } };
  };
  const values = changes.sequences.map(({ name, text }) => ({ name, text }));
  const sequences = changes.sequences.map(({ name, from, to }) => ({ name, from, to }));
  return {
    before: stateOf('removed'),
    after: stateOf('added'),
    definitions: { definitions: [], sequences, values, large_objects: 0 },
    // Its reader owns what it is given.
    async *read({ sha256 }) {
      yield new Uint8Array(rows.get(sha256) ?? []);
    },
  };
}
