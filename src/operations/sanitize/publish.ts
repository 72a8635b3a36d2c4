import { type LocalRepository, newSnapshotId } from '../../repository/local-repository.ts';
import { formatFor, type Manifest } from '../../repository/manifest/manifest.ts';
import type { Context } from '../../runtime/context.ts';
import { withStep } from '../../runtime/events.ts';
import { signed } from '../snapshots/signatures.ts';
import type { SanitizedDump } from './sanitize-database.ts';

interface Publication {
  repository: LocalRepository;
  original: Manifest;
  sanitized: SanitizedDump;
}

/** Writes the manifest: from here on the sanitized snapshot is there. It replaces the one that was there before. */
export async function publish(context: Context, { repository, original, sanitized }: Publication): Promise<Manifest> {
  const { report, clock, signal } = context;
  const { serverVersion, toolVersion, ...dumped } = sanitized.dump;
  const { target, created_at, engine, note, tags, git, dump, id: sanitized_of } = original;
  const id = newSnapshotId();
  const content: Manifest = {
    ...{ target, created_at, engine, note, sanitized_of },
    format: formatFor({ engine, ...dumped }),
    id,
    server_version: serverVersion,
    tool_version: toolVersion,
    sanitized: true,
    sanitized_at: clock().toISOString(),
    added_bytes: sanitized.addedBytes,
    ...dumped,
    ...(git && { git }),
    ...(dump && { dump }),
    ...(tags && { tags }),
  };
  const step = { step: 'store', label: 'Store the sanitized snapshot', done: `Stored sanitized snapshot ${id}` };
  return withStep(report, step, async () => {
    const manifest = await signed(context, content);
    const earlier = (await repository.list(target)).filter(
      (other) => other.sanitized_of === sanitized_of && !other.pinned,
    );
    signal.throwIfAborted();
    await repository.write(manifest);
    for (const replaced of earlier) await repository.remove(replaced);
    return manifest;
  });
}
