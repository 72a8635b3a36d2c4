import type { RestoreRequest } from '../../engines/facets/restore.ts';
import type { ObjectPool } from '../../repository/objects/object-pool.ts';
import type { Context } from '../../runtime/context.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';

/** Finds snapshots of a target on this machine by their ids, and reads them with the pool. */
export function earlierSnapshots(
  context: Context,
  { target, pool }: { target: string; pool: ObjectPool },
): NonNullable<RestoreRequest['earlier']> {
  const repository = localRepository(context);
  return async (id) => {
    const files = await repository.files(target);
    const file = files.find(({ key }) => key.endsWith(`-${id}.json`));
    const manifest = file ? await repository.read(file.key) : null;
    if (manifest?.id !== id) return null;
    return { manifest, read: snapshotReader({ manifest, repository, pool, signal: context.signal }) };
  };
}
