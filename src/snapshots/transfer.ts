import { open, rm } from 'node:fs/promises';
import { UserError } from '../errors.ts';
import { type Report, withStep } from '../events.ts';
import { mapWithConcurrency } from '../map-with-concurrency.ts';
import { filesOf } from './catalogue.ts';
import { damaged } from './damaged.ts';
import { objectKey } from './keys.ts';
import { filesOfTable, type Manifest, type ManifestFile } from './manifest.ts';
import { ContentDiffers } from './objects/checksum.ts';
import { largestObject } from './objects/object-format.ts';
import type { ObjectPool } from './objects/object-pool.ts';
import type { Repository } from './repository.ts';
import type { Shelf } from './shelf.ts';

/** Objects that are moved at the same moment; large ones move in several parts besides. */
const OBJECTS_AT_ONCE = 8;

/** Bytes come in thousands of small pieces, and nobody reads as many events. */
const TELL_EVERY_MS = 100;

/** An object that arrives damaged is fetched so often in all. */
const ATTEMPTS = 3;

export interface Moving {
  manifest: Manifest;
  repository: Repository;
  shelf: Shelf;
  /** Reads every object against its checksum: none is sent that is damaged, none is kept that arrives so. */
  pool: ObjectPool;
  report: Report;
  signal: AbortSignal;
}

export interface Moved {
  /** Objects that the other side lacked, and their bytes. */
  objects: number;
  bytes: number;
}

/** Copies a snapshot from this machine to a shelf: the objects that it lacks, then the manifest. Step: `push`. */
export function pushSnapshot(moving: Moving): Promise<Moved> {
  const { manifest, shelf, report } = moving;
  return shelf.locks.whilePushing(async (renew) => {
    const files = distinct(filesOf(manifest));
    const there = await shelf.store.present(files.map(({ sha256 }) => objectKey(sha256)));
    const missing = files.filter(({ sha256 }) => !there.has(objectKey(sha256)));
    const names = namesIn(manifest);
    return withProgress(missing, { step: 'push', verb: 'Push', place: `to ${shelf.name}`, report }, async (add) => {
      await mapWithConcurrency(missing, OBJECTS_AT_ONCE, async (file) => {
        await renew();
        await sendObject(file, moving, (bytes) => add(bytes, names.get(file.sha256)));
      });
      await renew();
      await shelf.write(manifest);
    });
  });
}

/** Stores an object of this machine on the shelf; throws when it is damaged here. */
export async function sendObject(
  file: ManifestFile,
  { manifest, repository, shelf, pool, signal }: Omit<Moving, 'report'>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const object = repository.object(file);
  let sent = 0;
  const count = (bytes: number): void => {
    sent += bytes;
    onBytes(bytes);
  };
  const put = (sha256?: string): Promise<void> =>
    shelf.store.put(objectKey(file.sha256), object.path, { signal, onBytes: count, sha256 });
  try {
    if (file.stored_sha256 !== undefined) return await put(file.stored_sha256);
  } catch (error) {
    if (!(error instanceof ContentDiffers) && !isGone(error)) throw error;
  }
  onBytes(-sent);
  // Equal content may be compressed otherwise.
  await pool
    .check(object, () => {})
    .catch((cause) => {
      signal.throwIfAborted();
      throw damaged({ manifest, file, cause });
    });
  await put();
}

/** Of an object that is not on this machine, though its manifest is. */
function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

export interface Fetching extends Moving {
  /** A path for a file that is not whole yet. */
  unfinished: (name: string) => string;
  /** What is needed, when it is not the whole snapshot. */
  files?: ManifestFile[];
}

/** Copies objects of a snapshot that this machine lacks from a shelf. Step: `pull`. */
export async function pullObjects(fetching: Fetching): Promise<Moved> {
  const { manifest, repository, shelf, report, files = filesOf(manifest) } = fetching;
  const missing = await missingHere(repository, files);
  if (missing.length === 0) return { objects: 0, bytes: 0 };
  const names = namesIn(manifest);
  return withProgress(missing, { step: 'pull', verb: 'Pull', place: `from ${shelf.name}`, report }, async (add) => {
    await mapWithConcurrency(missing, OBJECTS_AT_ONCE, (file) =>
      fetchObject(file, fetching, (bytes) => add(bytes, names.get(file.sha256))),
    );
  });
}

/** The distinct objects of these files that this machine lacks. */
export async function missingHere(repository: Repository, files: ManifestFile[]): Promise<ManifestFile[]> {
  const missing: ManifestFile[] = [];
  for (const file of distinct(files)) if (!(await repository.has(file))) missing.push(file);
  return missing;
}

/** Stores an object of the shelf on this machine, whatever is there; throws when it is damaged on the shelf. */
export async function fetchObject(
  file: ManifestFile,
  { manifest, repository, shelf, pool, signal, unfinished }: Omit<Fetching, 'report'>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const path = unfinished(`${file.sha256}.object`);
  for (let attempt = 1; ; attempt += 1) {
    let arrived = 0;
    const count = (bytes: number): void => {
      arrived += bytes;
      onBytes(bytes);
    };
    try {
      const maxBytes = largestObject(file.bytes);
      await shelf.store.get(objectKey(file.sha256), path, { signal, onBytes: count, maxBytes });
      // The content, and not what the manifest says of the object: whoever wrote one may have written the other.
      await pool.check({ ...repository.object(file), path }, () => {});
      break;
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof UserError) throw cause;
      await rm(path, { force: true });
      onBytes(-arrived);
      if (attempt === ATTEMPTS) throw damaged({ manifest, file, place: shelf.name, cause });
    }
  }
  await syncFile(path);
  await repository.store(path, file);
}

/** Two tables with the same content are one object. */
function distinct(files: ManifestFile[]): ManifestFile[] {
  return [...new Map(files.map((file) => [file.sha256, file])).values()];
}

function namesIn({ tables }: Manifest): Map<string, string> {
  return new Map(tables.flatMap((table) => filesOfTable(table).map(({ sha256 }) => [sha256, table.name])));
}

interface ProgressOptions {
  step: 'push' | 'pull';
  verb: string;
  place: string;
  report: Report;
}

/** Moves files in a step whose progress is that of `add`. */
async function withProgress(
  files: ManifestFile[],
  { step, verb, place, report }: ProgressOptions,
  move: (add: (bytes: number, current: string | undefined) => void) => Promise<void>,
): Promise<Moved> {
  const total = files.reduce((sum, file) => sum + file.stored_bytes, 0);
  const what = `${files.length} ${files.length === 1 ? 'object' : 'objects'}`;
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
    if (files.length > 0) tell();
  });
  return { objects: files.length, bytes: done };
}

async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r');
  await file.sync();
}
