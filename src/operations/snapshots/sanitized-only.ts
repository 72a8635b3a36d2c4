import { headlineOf } from '../../repository/headlines/headline.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { chosenQuery } from '../../sanitize/query.ts';
import { shell } from '../../text/shell-word.ts';
import { assertPublishable } from '../sanitize/ledger/ledger-gate.ts';
import { findTarget } from '../targets/find-target.ts';
import { isSanitized, trustedKeysOf } from './signatures.ts';
import { findSnapshot, listSnapshots, type SnapshotRequest } from './snapshots.ts';

/** The request for a context that may use sanitized snapshots only: by default the newest of those. */
export async function withSanitizedDefault<Request extends SnapshotRequest>(
  context: Context,
  request: Request,
): Promise<Request> {
  if (!context.sanitizedOnly || request.snapshot !== undefined) return request;
  const { target } = request;
  assertHasQuery(context, target);
  const newest = (await listSnapshots(context, target)).snapshots.find(({ sanitized }) => sanitized);
  if (!newest) throw notSanitized(`Target "${target}" has no sanitized snapshot`, target);
  return { ...request, snapshot: newest.id };
}

/** Refuses an original, and one that may not be published, in a context that may use sanitized snapshots only. */
export async function assertNotOriginal(context: Context, target: string, manifest: Manifest): Promise<void> {
  if (!context.sanitizedOnly) return;
  assertHasQuery(context, target);
  if (!isSanitized(headlineOf(manifest), trustedKeysOf(context))) {
    throw notSanitized(`Snapshot ${manifest.id} of "${target}" is not sanitized`, target);
  }
  await assertPublishable(context, { manifest, sanitized: true });
}

/** The same of a database that was made from a snapshot; `null` where the snapshot is unknown. */
export async function assertNoOriginalData(context: Context, target: string, snapshot: string | null): Promise<void> {
  if (!context.sanitizedOnly) return;
  const found = snapshot === null ? null : await findSnapshot(context, { target, snapshot }).catch(unlessMissing);
  if (!found)
    throw notSanitized(`The data of "${target}" on the server is not from a known sanitized snapshot`, target);
  await assertNotOriginal(context, target, found.manifest);
}

/** Snapshots of share and cloud targets are sanitized by others. */
function assertHasQuery({ configuration }: Context, target: string): void {
  const { share } = findTarget(configuration, target);
  if (share || configuration.cloud?.has(target) || chosenQuery(configuration, target) !== null) return;
  throw notSanitized(`Target "${target}" has no sanitization query`, target);
}

function unlessMissing(thrown: unknown): null {
  if (thrown instanceof UserError && thrown.code === 'snapshot_missing') return null;
  throw thrown;
}

function notSanitized(what: string, target: string): UserError {
  return new UserError('originals_not_allowed', `${what}, and this server may use sanitized snapshots only`, {
    hint: `A person can sanitize one (${shell`tool sanitize ${target}`}) and load it, or allow originals: tool mcp --allow originals`,
  });
}
