import { EXIT, UserError } from '../errors.ts';
import { filesOfTable, type Manifest, type ManifestFile } from '../snapshots/manifest.ts';
import type { ObjectPool } from '../snapshots/object-pool.ts';
import type { Repository } from '../snapshots/repository.ts';

export interface SnapshotReaderOptions {
  manifest: Manifest;
  repository: Repository;
  pool: ObjectPool;
  signal: AbortSignal;
}

/** Reads the files of a snapshot; one that is missing or damaged is an error that names what it holds. */
export function snapshotReader({ manifest, repository, pool, signal }: SnapshotReaderOptions) {
  return async function* read(file: ManifestFile): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      yield* pool.read(repository.object(file));
    } catch (cause) {
      signal.throwIfAborted();
      const table = manifest.tables.find((each) => filesOfTable(each).some(({ name }) => name === file.name));
      throw damaged(manifest, `${table?.name ?? file.name}: ${reasonOf(cause)}`, cause);
    }
  };
}

function damaged({ id, target }: Manifest, what: string, cause: unknown): UserError {
  return new UserError(`Snapshot ${id} of ${target} is damaged`, {
    code: 'snapshot_damaged',
    exit: EXIT.failed,
    details: [what],
    hint: `The destination is as it was before. Load another snapshot, or build a new one: tool build ${target}`,
    cause,
  });
}

/** In a sentence, for what a file system says with a code. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'the object is missing' : message;
}
