import type { LocalRepository } from '../../../repository/local-repository.ts';
import {
  bytesOfTable,
  filesOfTable,
  type Manifest,
  type ManifestTable,
} from '../../../repository/manifest/manifest.ts';
import type { ObjectToRead } from '../../../repository/objects/read-object.ts';
import { contentOf } from '../../../sanitize/coverage.ts';
import type { LeakThreads } from '../../../sanitize/leaks/leak-threads.ts';

/** Tables whose objects differ but hold the same rows: the server has read them in another order. */
export async function findReordered(
  threads: LeakThreads,
  { repository, original, result }: { repository: LocalRepository; original: Manifest; result: Manifest },
): Promise<Set<string>> {
  const before = new Map(original.tables.map((table) => [table.name, table]));
  const reordered = new Set<string>();
  await Promise.all(
    result.tables.map(async (table) => {
      const old = before.get(table.name);
      if (!old || old.rows !== table.rows || table.rows < 2 || contentOf(old) === contentOf(table)) return;
      if (bytesOfTable(old) !== bytesOfTable(table) || filesOfTable(old).length !== filesOfTable(table).length) return;
      const [one, other] = await Promise.all(
        [old, table].map((each) => threads.run({ task: 'sum', files: objectsOf(repository, each) }, 'sum')),
      );
      if (one?.sum === other?.sum) reordered.add(table.name);
    }),
  );
  return reordered;
}

export function unchangedTables(original: Manifest, result: Manifest, reordered: Set<string>): ManifestTable[] {
  const before = new Map(original.tables.map((table) => [table.name, contentOf(table)]));
  return result.tables.filter((table) => reordered.has(table.name) || before.get(table.name) === contentOf(table));
}

export function objectsOf(repository: LocalRepository, table: ManifestTable): ObjectToRead[] {
  return filesOfTable(table).map((file) => repository.object(file));
}
