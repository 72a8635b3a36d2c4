import { availableParallelism } from 'node:os';
import type { Manifest, ManifestFile } from '../../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import type { RemoteRepository } from '../../../repository/remote-repository.ts';
import { pullObjects, type TransferTotals } from '../../../repository/transfer.ts';
import type { TransferResult } from '../../../results/results.ts';
import type { Context } from '../../../runtime/context.ts';
import { recorded } from '../../history/recorded.ts';
import { assertShared } from '../../sign-in/sharing.ts';
import { localRepository } from '../local-repository.ts';
import { assertTrusted, type TrustChoice } from '../signatures.ts';
import { findSnapshot, type SnapshotRequest } from '../snapshots.ts';

/** Copies a snapshot from its remote repository to this machine: only what this machine lacks. Step: `pull`. */
export function pull(context: Context, request: SnapshotRequest & TrustChoice): Promise<TransferResult> {
  return recorded(
    context,
    { operation: 'pull', target: request.target },
    {
      work: () => perform(context, request),
      facts: ({ snapshot: { id, sanitized }, storage, bytes }) => ({
        ...{ snapshot: id, sanitized, from: storage, size_bytes: bytes },
      }),
    },
  );
}

async function perform(context: Context, request: SnapshotRequest & TrustChoice): Promise<TransferResult> {
  await assertShared(context, request.target);
  const { manifest, row, remote } = await findSnapshot(context, request);
  // Without a bucket that holds it, the snapshot is on this machine, whole.
  if (!remote) return { target: request.target, snapshot: row, storage: null, objects: 0, bytes: 0 };
  assertTrusted(context, manifest, request);
  const moved = await pullFiles(context, { manifest, remote, keep: true });
  return { target: request.target, snapshot: { ...row, where: ['local', 'remote'] }, storage: remote.name, ...moved };
}

export interface PullOptions {
  manifest: Manifest;
  remote: RemoteRepository;
  /** The required files, when not all are. */
  files?: ManifestFile[];
  /** Makes the snapshot one of this machine: only with everything. */
  keep: boolean;
}

/** Fetches what this machine lacks of these files. */
export async function pullFiles(
  context: Context,
  { manifest, remote, files, keep }: PullOptions,
): Promise<TransferTotals> {
  const { report, signal } = context;
  const repository = localRepository(context);
  await using staging = await repository.stage();
  await using pool = createObjectPool(availableParallelism(), { signal });
  const unfinished = (name: string): string => staging.path(name);
  const moving = { manifest, repository, remote, pool, report, signal, unfinished };
  const moved = await pullObjects(files ? { ...moving, files } : moving);
  if (keep) await repository.write(manifest);
  return moved;
}
