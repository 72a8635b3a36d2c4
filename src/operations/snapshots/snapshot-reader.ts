import { damaged } from '../../repository/damaged.ts';
import type { LocalRepository } from '../../repository/local-repository.ts';
import type { Manifest, ManifestFile } from '../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../repository/objects/object-pool.ts';

export interface SnapshotReaderOptions {
  manifest: Manifest;
  repository: LocalRepository;
  pool: Pick<ObjectPool, 'read'>;
  signal: AbortSignal;
  /** State of the destination, for errors. */
  state?: string;
}

/** Reads the files of a snapshot; one that is missing or damaged is an error that names what it holds. */
export function snapshotReader({
  manifest,
  repository,
  pool,
  signal,
  state = 'The destination is unchanged.',
}: SnapshotReaderOptions) {
  return async function* read(file: ManifestFile): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      yield* pool.read(repository.object(file));
    } catch (cause) {
      signal.throwIfAborted();
      throw damaged({ manifest, file, state, cause });
    }
  };
}
