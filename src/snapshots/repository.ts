import { randomBytes } from 'node:crypto';
import type { Report } from '../events.ts';
import { type Catalogue, createCatalogue, timeInKey } from './catalogue.ts';
import { claim, foreignFolder } from './claim.ts';
import { createFolder } from './folder.ts';
import { objectKey } from './keys.ts';
import type { ManifestFile } from './manifest.ts';
import { looksWhole, type ObjectToRead } from './objects/object-file.ts';
import { createStaging, liveStagings, type Staging, stagingRoot } from './staging.ts';

/** The snapshots of this machine. */
export interface Repository extends Catalogue {
  /** When the target's snapshots were taken, newest first; none is read for it. */
  takenAt(target: string): Promise<string[]>;
  /** Takes a packed object over, which has just been written or checked; `false` when it replaced one. */
  store(file: string, object: { sha256: string }): Promise<boolean>;
  /** Notes an object that was there, whole, and has been made young. */
  found(object: { sha256: string }): void;
  /** The folder of the store. */
  directory: string;
  object(file: Pick<ManifestFile, 'sha256' | 'bytes'>): ObjectToRead;
  /**
   * Whether an object is stored, and has the size that it must have; makes it young, so that whoever is about to name it
   * finds it then.
   */
  has(file: Pick<ManifestFile, 'sha256' | 'bytes'>): Promise<boolean>;
  /** A folder for one run's unfinished files; those of dead runs are removed. */
  stage(): Promise<Staging>;
}

export interface RepositoryOptions {
  directory: string;
  report: Report;
  /** Marks the directory before anything is changed in it, and refuses one of somebody else. */
  claims?: boolean;
  /** What the configuration keeps at the top of the directory, which is not somebody else's; a folder ends with `/`. */
  configured?: string[];
}

export function createRepository({
  directory,
  report,
  claims = false,
  configured = [],
}: RepositoryOptions): Repository {
  const folder = createFolder(directory);
  let claimed: Promise<void> | undefined;
  const ready = async (): Promise<void> => {
    if (!claims) return;
    claimed ??= claim(folder, { configured, refusal: (foreign) => foreignFolder(directory, foreign) });
    await claimed;
  };
  const catalogue = createCatalogue(folder, report);
  const unfinished = stagingRoot(directory);
  return {
    ...catalogue,
    takenAt: async (target) => (await catalogue.files(target)).map(({ key }) => timeInKey(key)),
    async write(manifest) {
      await ready();
      await catalogue.write(manifest);
    },
    async remove(manifest) {
      await ready();
      await catalogue.remove(manifest);
    },
    async store(file, { sha256 }) {
      await ready();
      return await folder.adopt(file, objectKey(sha256));
    },
    found: ({ sha256 }) => folder.found(objectKey(sha256)),
    directory: folder.name,
    object: ({ sha256, bytes }) => ({ path: folder.path(objectKey(sha256)), sha256, bytes }),
    async has({ sha256, bytes }) {
      const key = objectKey(sha256);
      return (await folder.renew(key)) && looksWhole({ path: folder.path(key), bytes });
    },
    // A run that is building or pulling may be about to name an object that nobody else names.
    async sweep(now) {
      await ready();
      const isQuiet = async (): Promise<boolean> => (await liveStagings(unfinished)) === 0;
      return (await isQuiet()) ? await catalogue.sweep(now, isQuiet) : 0;
    },
    async stage() {
      await ready();
      return await createStaging(unfinished);
    },
  };
}

export function newSnapshotId(): string {
  return randomBytes(4).toString('hex');
}
