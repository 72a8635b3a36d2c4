import { rm } from 'node:fs/promises';
import { UserError } from '../runtime/errors.ts';
import { type Report, withStep } from '../runtime/events.ts';
import { mapWithConcurrency } from '../runtime/map-with-concurrency.ts';
import { syncPath } from '../runtime/write-file.ts';
import { damaged, isObjectDamage } from './damaged.ts';
import type { LocalRepository } from './local-repository.ts';
import { filesOfTable, type Manifest, type ManifestFile } from './manifest/manifest.ts';
import { ContentDiffers } from './objects/checksum.ts';
import { largestObject } from './objects/object-format.ts';
import type { ObjectPool } from './objects/object-pool.ts';
import type { RemoteRepository } from './remote-repository.ts';
import { filesOf } from './repository.ts';
import { objectKey } from './store/keys.ts';
import type { ObjectStore } from './store/store.ts';

export const OBJECTS_AT_ONCE = 8;

/** Pieces are small; progress events are limited to one per interval. */
const TELL_EVERY_MS = 100;

/** Downloads of an object that arrives damaged. */
const ATTEMPTS = 3;

export interface TransferOptions {
  manifest: Manifest;
  repository: LocalRepository;
  remote: RemoteRepository;
  /** Verifies every object: none is sent or kept damaged. */
  pool: ObjectPool;
  report: Report;
  signal: AbortSignal;
}

export interface TransferTotals {
  objects: number;
  bytes: number;
}

/** Copies missing objects to a remote repository, then the manifest. Step: `push`. */
export function pushSnapshot(moving: TransferOptions): Promise<TransferTotals> {
  const { manifest, remote, report } = moving;
  return remote.whilePushing(async (renew) => {
    const files = distinct(filesOf(manifest));
    const missing = await missingThere(files, moving);
    const names = namesIn(manifest);
    const progress = { ...sumOf(missing), step: 'push', verb: 'Push', place: `to ${remote.name}`, report } as const;
    return withProgress(progress, async (add) => {
      await mapWithConcurrency(missing, OBJECTS_AT_ONCE, async (file) => {
        await renew();
        await sendObject(file, moving, (bytes) => add(bytes, names.get(file.sha256)));
      });
      await renew();
      await remote.write(manifest);
    });
  });
}

export async function missingThere<Item extends { sha256: string }>(
  items: Item[],
  { remote, manifest }: Pick<TransferOptions, 'remote' | 'manifest'>,
): Promise<Item[]> {
  const there = await remote.objectsOf(manifest).present(items.map(({ sha256 }) => objectKey(sha256)));
  return items.filter(({ sha256 }) => !there.has(objectKey(sha256)));
}

/** Throws when the local object is damaged. */
export async function sendObject(
  file: ManifestFile,
  { manifest, repository, remote, pool, signal }: Omit<TransferOptions, 'report'>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const object = repository.object(file);
  let sent = 0;
  const count = (bytes: number): void => {
    sent += bytes;
    onBytes(bytes);
  };
  const put = (sha256?: string): Promise<void> =>
    remote.objectsOf(manifest).put(objectKey(file.sha256), object.path, { signal, onBytes: count, sha256 });
  try {
    if (file.stored_sha256 !== undefined) return await put(file.stored_sha256);
  } catch (error) {
    if (!(error instanceof ContentDiffers) && !isGone(error)) throw error;
  }
  onBytes(-sent);
  // Equal content may be compressed differently.
  await pool
    .check(object, () => {})
    .catch((cause) => {
      signal.throwIfAborted();
      throw damaged({ manifest, file, cause });
    });
  await put();
}

/** The manifest exists locally, the object does not. */
function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

export interface FetchOptions extends TransferOptions {
  unfinished: (name: string) => string;
  files?: ManifestFile[];
}

/** Copies missing objects from a remote repository. Step: `pull`. */
export async function pullObjects(fetching: FetchOptions): Promise<TransferTotals> {
  const { manifest, repository, remote, report, files = filesOf(manifest) } = fetching;
  const missing = await missingHere(repository, files);
  if (missing.length === 0) return { objects: 0, bytes: 0 };
  const names = namesIn(manifest);
  const progress = { ...sumOf(missing), step: 'pull', verb: 'Pull', place: `from ${remote.name}`, report } as const;
  return withProgress(progress, async (add) => {
    await mapWithConcurrency(missing, OBJECTS_AT_ONCE, (file) =>
      fetchObject(file, fetching, (bytes) => add(bytes, names.get(file.sha256))),
    );
  });
}

export async function missingHere(repository: LocalRepository, files: ManifestFile[]): Promise<ManifestFile[]> {
  const missing: ManifestFile[] = [];
  for (const file of distinct(files)) if (!(await repository.has(file))) missing.push(file);
  return missing;
}

/** Downloads an object, replacing an existing one; throws when it is damaged in the bucket. */
export async function fetchObject(
  file: ManifestFile,
  { unfinished, ...fetching }: Omit<FetchOptions, 'report'>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const path = unfinished(`${file.sha256}.object`);
  await downloadObject(file, path, { ...fetching, onBytes });
  await syncPath(path);
  await fetching.repository.store(path, file);
}

type DownloadedFile = Pick<ManifestFile, 'name' | 'sha256' | 'bytes'>;

interface DownloadOptions extends Pick<TransferOptions, 'manifest' | 'remote' | 'pool' | 'signal'> {
  /** By default those of the snapshot. */
  objects?: ObjectStore | undefined;
  onBytes: (bytes: number) => void;
}

/** Downloads an object to a new file, and verifies its content. */
export async function downloadObject(
  file: DownloadedFile,
  path: string,
  { manifest, remote, objects = remote.objectsOf(manifest), pool, signal, onBytes }: DownloadOptions,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    let arrived = 0;
    const count = (bytes: number): void => {
      arrived += bytes;
      onBytes(bytes);
    };
    try {
      const maxBytes = largestObject(file.bytes);
      await objects.get(objectKey(file.sha256), path, { signal, onBytes: count, maxBytes });
      // Verifies the content, because the manifest and the object may have the same forger.
      await pool.check({ path, sha256: file.sha256, bytes: file.bytes }, () => {});
      return;
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof UserError) throw cause;
      await rm(path, { force: true });
      onBytes(-arrived);
      if (attempt < ATTEMPTS) continue;
      const isReported = isObjectDamage(cause) && (await tryReport(remote, manifest, file.sha256));
      throw damaged({ manifest, file, place: remote.name, isReported, cause });
    }
  }
}

/** `false` when the report fails: a reader may be unable to write to the bucket. */
function tryReport(remote: RemoteRepository, manifest: Manifest, sha256: string): Promise<boolean> {
  return remote.reportDamage(manifest, [sha256], { wait: false }).then(
    (verdicts) => ['damaged', 'checking'].includes(verdicts.get(sha256) ?? ''),
    () => false,
  );
}

export function distinct<Item extends { sha256: string }>(items: Item[]): Item[] {
  return [...new Map(items.map((item) => [item.sha256, item])).values()];
}

function namesIn({ tables }: Manifest): Map<string, string> {
  return new Map(tables.flatMap((table) => filesOfTable(table).map(({ sha256 }) => [sha256, table.name])));
}

function sumOf(files: ManifestFile[]): { objects: number; total: number } {
  return { objects: files.length, total: files.reduce((sum, file) => sum + file.stored_bytes, 0) };
}

interface ProgressOptions {
  objects: number;
  /** Bytes to move. */
  total: number;
  step: 'push' | 'pull';
  verb: string;
  /** Remote repository, with its preposition. */
  place: string;
  report: Report;
}

export async function withProgress(
  { objects, total, step, verb, place, report }: ProgressOptions,
  move: (add: (bytes: number, current: string | undefined) => void) => Promise<void>,
): Promise<TransferTotals> {
  const what = `${objects} ${objects === 1 ? 'object' : 'objects'}`;
  let done = 0;
  let latest: string | undefined;
  let told = Number.NEGATIVE_INFINITY;
  const tell = (): void => {
    told = performance.now();
    report({ event: 'progress', step, done, total, unit: 'bytes', ...(latest !== undefined && { current: latest }) });
  };
  const add = (bytes: number, current: string | undefined): void => {
    done += bytes;
    latest = current;
    if (performance.now() - told >= TELL_EVERY_MS) tell();
  };
  await withStep(report, { step, label: `${verb} ${what} ${place}`, done: `${verb}ed ${what} ${place}` }, async () => {
    await move(add);
    if (objects > 0) tell();
  });
  return { objects, bytes: done };
}
