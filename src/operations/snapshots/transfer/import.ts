import { availableParallelism } from 'node:os';
import { openArchive } from '../../../repository/archive-file.ts';
import { damaged } from '../../../repository/damaged.ts';
import { headlineOf } from '../../../repository/headlines/headline.ts';
import type { Manifest, ManifestFile } from '../../../repository/manifest/manifest.ts';
import { verifyManifest } from '../../../repository/manifest/signature.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import { filesOf } from '../../../repository/repository.ts';
import { missingHere } from '../../../repository/transfer.ts';
import type { ImportResult } from '../../../results/results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { recorded } from '../../history/recorded.ts';
import { findTarget } from '../../targets/find-target.ts';
import { localRepository } from '../local-repository.ts';
import { assertTrusted, signatureOf, signed, type TrustChoice, trustedKeysOf } from '../signatures.ts';

export interface ImportRequest extends TrustChoice {
  /** Absolute path of an exported snapshot. */
  file: string;
  /** Target of the imported snapshot. Default: the target that it was built from. */
  target?: string;
}

/** Takes a snapshot in that was exported. Step: `import`. */
export async function importSnapshot(context: Context, request: ImportRequest): Promise<ImportResult> {
  await using archive = await openArchive(request.file);
  assertTrusted(context, archive.manifest, request);
  const manifest = await forTarget(context, archive.manifest, request.target);
  findTarget(context.configuration, manifest.target);
  const { target, id: snapshot, sanitized } = manifest;
  // Awaited: the archive is open until then.
  return await recorded(
    context,
    { operation: 'import', target, snapshot, sanitized, from: request.file },
    {
      work: () => perform(context, { archive, manifest, path: request.file }),
      facts: ({ size_bytes }) => ({ size_bytes }),
    },
  );
}

async function perform(
  context: Context,
  { archive, manifest, path }: { archive: Awaited<ReturnType<typeof openArchive>>; manifest: Manifest; path: string },
): Promise<ImportResult> {
  const { report, signal } = context;
  const repository = localRepository(context);
  await using staging = await repository.stage();
  const missing = await missingHere(repository, filesOf(manifest));
  const total = missing.reduce((sum, file) => sum + file.stored_bytes, 0);
  await using pool = createObjectPool(availableParallelism(), { signal });
  let done = 0;
  const store = async (file: ManifestFile): Promise<void> => {
    const unfinished = staging.path(file.sha256);
    try {
      await archive.extract(file, unfinished, { signal });
      // The content is verified, not the manifest's statement about it: both come from the archive.
      await pool.check({ ...repository.object(file), path: unfinished }, () => {});
    } catch (cause) {
      signal.throwIfAborted();
      throw cause instanceof UserError ? cause : damaged({ manifest, file, place: path, cause });
    }
    await repository.store(unfinished, file);
    done += file.stored_bytes;
    report({ event: 'progress', step: 'import', done, total, unit: 'bytes' });
  };
  const imported = `Imported snapshot ${manifest.id} of ${manifest.target}`;
  await withStep(report, { step: 'import', label: `Read ${path}`, done: imported }, async () => {
    await repository.withoutLeftovers(async () => {
      await mapWithConcurrency(missing, availableParallelism(), store);
      await repository.write(manifest);
    });
  });
  const signature = signatureOf(manifest, trustedKeysOf(context));
  return { ...headlineOf(manifest), signature, file: path };
}

/** The target is signed as well: for another one this machine signs, as it has read the old signature. */
async function forTarget(context: Context, manifest: Manifest, target: string | undefined): Promise<Manifest> {
  if (target === undefined || target === manifest.target) return manifest;
  const { signature: _, ...renamed } = { ...manifest, target };
  return verifyManifest(manifest).state === 'valid' ? signed(context, renamed) : renamed;
}
