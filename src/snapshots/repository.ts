import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { Report } from '../events.ts';
import { createFolder } from './folder.ts';
import { type Manifest, type ManifestFile, manifestSchema } from './manifest.ts';
import type { ObjectToRead } from './object-file.ts';
import { createStaging, liveStagings, type Staging, stagingRoot } from './staging.ts';

/** An object younger than this is never swept: a build or a push that names it may still be going on. */
const SWEEP_AGE = 24 * 60 * 60 * 1000;

/** The snapshots of this machine: manifests over content-addressed objects. */
export interface Repository {
  /** Newest first. A damaged manifest is warned of and left out. */
  list(target: string): Promise<Manifest[]>;
  count(target: string): Promise<number>;
  /** Writes, or replaces, a manifest; what it names must be stored already. */
  write(manifest: Manifest): Promise<void>;
  /** Removes the manifest, not its objects: see `sweep`. */
  remove(manifest: Manifest): Promise<void>;
  /** Takes a packed object over; `false` when it was there already. */
  store(file: string, object: { sha256: string }): Promise<boolean>;
  object(file: ManifestFile): ObjectToRead;
  /** Bytes of objects that only this manifest names. */
  ownBytes(manifest: Manifest): Promise<number>;
  /** Removes objects older than a day that no manifest names; the bytes freed. None while a manifest is damaged. */
  sweep(now: Date): Promise<number>;
  /** A folder for one run's unfinished files; those of dead runs are removed. */
  stage(): Promise<Staging>;
}

export function createRepository({ directory, report }: { directory: string; report: Report }): Repository {
  const folder = createFolder(directory);
  const unfinished = stagingRoot(directory);

  async function read(key: string): Promise<Manifest | null> {
    try {
      return v.parse(manifestSchema, JSON.parse(await folder.read(key)));
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      report({ event: 'warning', code: 'manifest_damaged', message: `Cannot read ${folder.path(key)}: ${reason}` });
      return null;
    }
  }

  /** Newest first; `null` for those that are damaged. */
  async function readEach(prefix: string): Promise<(Manifest | null)[]> {
    const files = (await folder.list(prefix)).filter((file) => file.key.endsWith('.json'));
    return (await Promise.all(files.map((file) => read(file.key)))).reverse();
  }

  async function readAll(prefix: string): Promise<Manifest[]> {
    return (await readEach(prefix)).filter((manifest) => manifest !== null);
  }

  return {
    list: (target) => readAll(targetPrefix(target)),
    count: async (target) =>
      (await folder.list(targetPrefix(target))).filter((file) => file.key.endsWith('.json')).length,
    write: (manifest) => folder.write(manifestKey(manifest), `${JSON.stringify(manifest, null, 2)}\n`),
    remove: (manifest) => folder.remove(manifestKey(manifest)),
    store: (file, { sha256 }) => folder.adopt(file, objectKey(sha256)),
    object: ({ sha256, bytes }) => ({ path: folder.path(objectKey(sha256)), sha256, bytes }),

    async ownBytes(manifest) {
      const others = (await readAll('snapshots')).filter(({ id }) => id !== manifest.id);
      const shared = namedObjects(others);
      const own = new Map(filesOf(manifest).map((file) => [file.sha256, file.stored_bytes]));
      return [...own].reduce((sum, [sha256, bytes]) => (shared.has(sha256) ? sum : sum + bytes), 0);
    },

    async sweep(now) {
      // A run that is building may be about to name an object that nobody else names.
      if ((await liveStagings(unfinished)) > 0) return 0;
      const objects = await folder.list('objects');
      const manifests = await readEach('snapshots');
      // One that cannot be read, or that a newer version has written, may name any object.
      if (!manifests.every((manifest) => manifest !== null)) return 0;
      const named = namedObjects(manifests);
      let freed = 0;
      for (const object of objects) {
        const sha256 = object.key.slice(object.key.lastIndexOf('/') + 1);
        if (named.has(sha256) || now.getTime() - object.modified.getTime() < SWEEP_AGE) continue;
        await folder.remove(object.key);
        freed += object.bytes;
      }
      return freed;
    },

    stage: () => createStaging(unfinished),
  };
}

export function filesOf(manifest: Manifest): ManifestFile[] {
  return [...manifest.tables.map((table) => table.file), ...manifest.files];
}

function namedObjects(manifests: Manifest[]): Set<string> {
  return new Set(manifests.flatMap((manifest) => filesOf(manifest).map((file) => file.sha256)));
}

export function newSnapshotId(): string {
  return randomBytes(4).toString('hex');
}

function manifestKey({ target, created_at, id }: Manifest): string {
  return `${targetPrefix(target)}/${created_at.replaceAll(/[-:]/g, '').replace('.', '')}-${id}.json`;
}

/** A target may be called anything; its folder must not leave `snapshots/`. */
function targetPrefix(target: string): string {
  return `snapshots/${encodeURIComponent(target).replaceAll('.', '%2E')}`;
}

function objectKey(sha256: string): string {
  return `objects/${sha256.slice(0, 2)}/${sha256}`;
}
