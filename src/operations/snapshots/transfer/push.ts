import { availableParallelism } from 'node:os';
import { ORIGINALS_HINT, sharedOriginals } from '../../../config/rules/shared-originals.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import { pushSnapshot, type TransferTotals } from '../../../repository/transfer.ts';
import type { TransferResult } from '../../../results/results.ts';
import type { Context } from '../../../runtime/context.ts';
import { toUserError, UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import { recorded } from '../../history/recorded.ts';
import { assertPublishable } from '../../sanitize/ledger/ledger-gate.ts';
import { keepTargetImage } from '../../servers/target-image.ts';
import { localRepository } from '../local-repository.ts';
import { locationFor, openLocation, type RemoteLocation } from '../remote-repositories.ts';
import { findSnapshot, type SnapshotRequest } from '../snapshots.ts';
import { assertEncryptedPush, rememberEncryptedPush } from './encrypted-storage.ts';

/** Copies a snapshot of this machine to its target's remote repository: only what the remote repository lacks. Step: `push`. */
export function push(context: Context, request: SnapshotRequest): Promise<TransferResult> {
  return recorded(
    context,
    { operation: 'push', target: request.target },
    {
      work: () => perform(context, request),
      facts: ({ snapshot: { id, sanitized }, storage, bytes }) => ({
        ...{ snapshot: id, sanitized, to: storage, size_bytes: bytes },
      }),
    },
  );
}

async function perform(context: Context, request: SnapshotRequest): Promise<TransferResult> {
  const { manifest, row, local } = await findSnapshot(context, request);
  if (!local) {
    throw new UserError(
      'snapshot_not_here',
      `Snapshot ${row.index} of ${request.target} (${row.id}) is not on this machine`,
      { hint: 'A snapshot that is only in the bucket does not need a push.' },
    );
  }
  const { sanitized } = row;
  const location = locationFor(context, manifest.target, { sanitized });
  if (location === null) {
    throw new UserError('storage_missing', `Target "${request.target}" has no storage profile to push to`, {
      hint: `Set targets.${request.target}.storage_profile in the configuration.`,
    });
  }
  const { storage, ...moved } = await pushManifest(context, { manifest, sanitized, location });
  if (sanitized) await keepTargetImage(context, { manifest, sanitized, location });
  return { target: request.target, snapshot: { ...row, where: ['local', 'remote'] }, storage, ...moved };
}

/** Pushes a snapshot that this operation has stored: its own manifest says what it is. A failure leaves it on this machine. */
export async function pushStored(context: Context, manifest: Manifest, location: RemoteLocation): Promise<void> {
  const { sanitized } = manifest;
  await pushManifest(context, { manifest, sanitized, location }).catch((cause) => {
    context.signal.throwIfAborted();
    throw notPushed(manifest, cause);
  });
}

function notPushed({ id, target }: Manifest, cause: unknown): UserError {
  const { message, hint } = toUserError(cause);
  return new UserError(
    'push_failed',
    `Snapshot ${id} of ${target} is stored on this machine, but could not be pushed`,
    {
      details: [message, ...(hint === undefined ? [] : [hint])],
      hint: `Fix this, then run: ${shell`tool push ${target} ${id}`}`,
      cause,
    },
  );
}

interface PushOptions {
  manifest: Manifest;
  /** The data counts as sanitized. */
  sanitized: boolean;
  location: RemoteLocation;
}

/** Copies a snapshot of this machine to a remote repository. */
async function pushManifest(
  context: Context,
  { manifest, sanitized, location }: PushOptions,
): Promise<TransferTotals & { storage: string }> {
  const { report, signal, configuration } = context;
  const pushed = { target: manifest.target, sanitized };
  const isOwn = sanitized || !('profile' in location);
  const shared = isOwn ? null : sharedOriginals(configuration.settings, location.profile);
  // The hub shows an original to owners and its original_groups only.
  const original =
    shared === null ? undefined : { why: 'is an original, which share targets would read', hint: ORIGINALS_HINT };
  await assertPublishable(context, { manifest, sanitized, original });
  if (shared !== null) {
    report({ event: 'warning', code: 'originals_shared', message: `${shared}. ${ORIGINALS_HINT}` });
  }
  // To the hub as well: a profile that was encrypted may have left the file.
  const profile = 'profile' in location ? location.profile : location.profiles?.[sanitized ? 'sanitized' : 'originals'];
  if (profile !== undefined) await assertEncryptedPush(context, pushed, profile);
  const remote = await openLocation(context, location);
  await using pool = createObjectPool(availableParallelism(), { signal });
  const repository = localRepository(context);
  const moved = await pushSnapshot({ manifest, repository, remote, pool, report, signal });
  if ('profile' in location) await rememberEncryptedPush(context, pushed, location.profile);
  return { storage: remote.name, ...moved };
}
