import { engineOf } from '../../engines/registry.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError, UserError } from '../../runtime/errors.ts';
import { chosenQuery } from '../../sanitize/query.ts';
import { shell } from '../../text/shell-word.ts';
import { openLocation, type RemoteLocation } from '../snapshots/remote-repositories.ts';
import { findTarget } from '../targets/find-target.ts';
import { findImage, imageKeyOf } from './images.ts';
import { makeImage } from './make-image.ts';
import { sweepServers } from './records.ts';
import { isImageShared, shareImage } from './shared-images.ts';

interface StoredSnapshot {
  /** Its objects are on this machine. */
  manifest: Manifest;
  /** Its data counts as sanitized. */
  sanitized: boolean;
  /** Remote repository to which it was pushed. */
  location: RemoteLocation | null;
}

/**
 * Makes the image of a stored snapshot whose target has `image: true`, and pushes that of a sanitized one. An original
 * with a sanitization query gets none. Steps: those of a load, `image`, `push`.
 */
export async function keepTargetImage(context: Context, stored: StoredSnapshot): Promise<void> {
  const { manifest, sanitized } = stored;
  const { configuration, signal } = context;
  const { target } = manifest;
  if (!findTarget(configuration, target).image) return;
  if (!sanitized && chosenQuery(configuration, target) !== null) return;
  await makeAndShare(context, stored).catch((cause) => {
    signal.throwIfAborted();
    throw imageFailed(manifest, cause);
  });
}

async function makeAndShare(context: Context, { manifest, sanitized, location }: StoredSnapshot): Promise<void> {
  const { target, engine } = manifest;
  // A killed run has left the server that it had loaded, with its files.
  await sweepServers(context);
  const facet = await engineOf(engine).images();
  const wanted = imageKeyOf(facet, { target, manifest, programs: await facet.findPrograms(context, manifest) });
  const remote = sanitized && location ? await openLocation(context, location) : null;
  if (remote && (await isImageShared(context, { facet, wanted, found: { row: { sanitized }, remote } }))) return;
  const found = await findImage(context, wanted);
  // This machine's signature says that it has made the image.
  const image = found && found.manifest.signer === undefined ? found : await makeImage(context, facet, wanted);
  if (remote) await shareImage(context, { image, wanted, facet, sanitized, remote });
}

function imageFailed({ id, target }: Manifest, cause: unknown): UserError {
  const { message, hint, details = [] } = toUserError(cause);
  return new UserError('image_failed', `Snapshot ${id} of ${target} is stored, its image is not`, {
    details: [message, ...details, ...(hint === undefined ? [] : [hint])],
    hint: `Fix this, then run: ${shell`tool push ${target} ${id}`}. Or remove targets.${target}.image.`,
    cause,
  });
}
