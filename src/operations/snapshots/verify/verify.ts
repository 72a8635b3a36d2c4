import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { isObjectDamage, reasonOf } from '../../../repository/damaged.ts';
import { filesOfTable, type ManifestFile } from '../../../repository/manifest/manifest.ts';
import { largestObject } from '../../../repository/objects/object-format.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import { filesOf } from '../../../repository/repository.ts';
import { objectKey } from '../../../repository/store/keys.ts';
import type { VerifyResult } from '../../../results/results.ts';
import type { Context } from '../../../runtime/context.ts';
import { toUserError, UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { findSave } from '../../save/saves.ts';
import { localRepository } from '../local-repository.ts';
import { repair } from '../repair.ts';
import { type FoundSnapshot, findAnySnapshot, type SnapshotRequest } from '../snapshots.ts';

export interface VerifyRequest extends SnapshotRequest {
  /** Name or index of a save, in place of a snapshot. */
  save?: string;
  /** Verifies the objects in the bucket. Default: those on this machine, where there are any. */
  remote?: boolean;
  /** Only so many percent of the objects, chosen at random. */
  sample?: number;
  /** Replaces what is damaged by what the other side has: the bucket, or this machine. */
  repair?: boolean;
}

/**
 * Re-reads every byte of a snapshot against its checksums. Damage is in the result, not thrown. Steps: `verify`,
 * `repair`.
 */
export async function verify(context: Context, request: VerifyRequest): Promise<VerifyResult> {
  const { report, signal } = context;
  const { target, save } = request;
  const found = await (save === undefined ? findAnySnapshot(context, request) : findSave(context, { target, save }));
  const { manifest, row } = found;
  const files = sampleOf(filesOf(manifest), request.sample);
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const names = new Map(manifest.tables.flatMap((table) => filesOfTable(table).map((file) => [file.name, table.name])));
  await using source = await openSource(context, found, request.remote ?? false);
  const label = `Read ${files.length} files of snapshot ${manifest.id} in ${source.name}`;
  const atOnce = availableParallelism();
  await using pool = createObjectPool(atOnce, { signal });
  const problems: DamagedFile[] = [];
  let done = 0;
  const read = async (file: ManifestFile): Promise<void> => {
    const current = names.get(file.name) ?? file.name;
    const onBytes = (bytes: number): void => {
      done += bytes;
      report({ event: 'progress', step: 'verify', done, total, unit: 'bytes', current });
    };
    try {
      await using object = await source.object(file);
      await pool.check({ ...object, sha256: file.sha256, bytes: file.bytes }, onBytes);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UserError) throw error;
      const line = `${current}: ${reasonOf(error)} (${source.name}/${objectKey(file.sha256)})`;
      problems.push({ file, line, error });
    }
  };
  const outcome = (): string => (problems.length === 0 ? 'All checksums match' : 'Damage found');
  await withStep(report, { step: 'verify', label, done: outcome }, async () => {
    await mapWithConcurrency(files, atOnce, read);
    signal.throwIfAborted();
  });
  const damaged = problems.map(({ file }) => file);
  const isRepaired = (request.repair ?? false) && damaged.length > 0;
  if (!isRepaired && source.remote) await reportDamage(context, found, problems);
  const { repaired, lost } = isRepaired
    ? await repair(context, { found, remote: source.remote, damaged, pool })
    : { repaired: new Set<string>(), lost: [] };
  const forged = row.signature.state === 'invalid' ? ['manifest: its signature does not match'] : [];
  const [whole, left] = [true, false].map((is) => problems.filter(({ file }) => repaired.has(file.sha256) === is));
  return {
    target: request.target,
    snapshot: row,
    ...(manifest.save !== undefined && { save: manifest.save }),
    ok: linesOf(left).length + forged.length === 0,
    files: files.length,
    bytes: done,
    problems: [...forged, ...linesOf(left)],
    repaired: linesOf(whole),
    lost,
  };
}

interface DamagedFile {
  file: ManifestFile;
  line: string;
  error: unknown;
}

/** Has the next push replace what is damaged in the remote repository. */
async function reportDamage(
  { report, signal }: Context,
  { manifest, remote }: FoundSnapshot,
  problems: DamagedFile[],
): Promise<void> {
  const damaged = problems.filter(({ error }) => isObjectDamage(error)).map(({ file }) => file.sha256);
  if (!remote || damaged.length === 0) return;
  try {
    await remote.reportDamage(manifest, [...new Set(damaged)], { wait: false });
  } catch (error) {
    signal.throwIfAborted();
    const message = `Could not report the damage: ${toUserError(error).message}`;
    report({ event: 'warning', code: 'damage_not_reported', message });
  }
}

function linesOf(problems: { line: string }[] = []): string[] {
  return problems.map(({ line }) => line).sort();
}

/** At least one. */
function sampleOf(files: ManifestFile[], percent = 100): ManifestFile[] {
  if (percent >= 100) return files;
  const shuffled = files.map((file) => ({ file, at: Math.random() })).sort((a, b) => a.at - b.at);
  return shuffled.slice(0, Math.ceil((files.length * percent) / 100)).map(({ file }) => file);
}

interface Source extends AsyncDisposable {
  name: string;
  remote: boolean;
  /** The object as a file, for as long as it is not disposed. */
  object(file: ManifestFile): Promise<{ path: string } & AsyncDisposable>;
}

async function openSource(
  context: Context,
  { manifest, local, row, remote }: FoundSnapshot,
  fromRemote: boolean,
): Promise<Source> {
  const { configuration, signal } = context;
  const repository = localRepository(context);
  if (local && !fromRemote) {
    return {
      name: configuration.settings.working_directory,
      remote: false,
      object: async (file) => ({ path: repository.object(file).path, [Symbol.asyncDispose]: async () => {} }),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  if (!remote) {
    throw new UserError('snapshot_not_here', `Snapshot ${row.index} (${row.id}) is only on this machine`, {
      hint: 'Verify it without --remote, or push it first.',
    });
  }
  const staging = await repository.stage();
  const objects = remote.objectsOf(manifest);
  return {
    name: remote.name,
    remote: true,
    async object({ name, sha256, bytes }) {
      const path = staging.path(encodeURIComponent(name));
      await objects.get(objectKey(sha256), path, { signal, onBytes: () => {}, maxBytes: largestObject(bytes) });
      return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    },
    [Symbol.asyncDispose]: () => staging[Symbol.asyncDispose](),
  };
}
