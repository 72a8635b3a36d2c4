import { randomBytes } from 'node:crypto';
import type { Report } from '../runtime/events.ts';
import { claim, foreignFolder } from './claim.ts';
import { createFolder } from './folder.ts';
import type { ManifestFile } from './manifest.ts';
import { looksWhole, type ObjectToRead } from './objects/object-file.ts';
import { createRepository, objectKey, type Repository, timeInKey } from './repository.ts';
import { createStaging, liveStagings, type Staging, stagingRoot } from './staging.ts';

/** The snapshots of this machine. */
export interface LocalRepository extends Repository {
  /** When the target's snapshots were taken, newest first; none is read for it. */
  takenAt(target: string): Promise<string[]>;
  /** Takes a packed object over, which has just been written or checked; `false` when it replaced one. */
  store(file: string, object: { sha256: string }): Promise<boolean>;
  object(file: Pick<ManifestFile, 'sha256' | 'bytes'>): ObjectToRead;
  /**
   * Whether an object is stored, and has the size that it must have; makes it young, so that whoever is about to name it
   * finds it then.
   */
  has(file: Pick<ManifestFile, 'sha256' | 'bytes'>): Promise<boolean>;
  /** A folder for one run's unfinished files; those of dead runs are removed. */
  stage(): Promise<Staging>;
}

export interface LocalRepositoryOptions {
  directory: string;
  report: Report;
  /** Marks the directory before anything is changed in it, and refuses one of somebody else. */
  claims?: boolean;
  /** What the configuration keeps at the top of the directory, which is not somebody else's; a folder ends with `/`. */
  configured?: string[];
}

export function createLocalRepository({
  directory,
  report,
  claims = false,
  configured = [],
}: LocalRepositoryOptions): LocalRepository {
  const folder = createFolder(directory);
  let claimed: Promise<void> | undefined;
  const ready = async (): Promise<void> => {
    if (!claims) return;
    claimed ??= claim(folder, { configured, refusal: (foreign) => foreignFolder(directory, foreign) });
    await claimed;
  };
  const repository = createRepository(folder, report);
  const unfinished = stagingRoot(directory);
  return {
    ...repository,
    takenAt: async (target) => (await repository.files(target)).map(({ key }) => timeInKey(key)),
    async write(manifest) {
      await ready();
      await repository.write(manifest);
    },
    async remove(manifest) {
      await ready();
      await repository.remove(manifest);
    },
    async store(file, { sha256 }) {
      await ready();
      return await folder.adopt(file, objectKey(sha256));
    },
    object: ({ sha256, bytes }) => ({ path: folder.path(objectKey(sha256)), sha256, bytes }),
    async has({ sha256, bytes }) {
      const key = objectKey(sha256);
      return (await folder.renew(key)) && looksWhole({ path: folder.path(key), bytes });
    },
    // A run that is building or pulling may be about to name an object that nobody else names.
    async sweep(now) {
      await ready();
      const isQuiet = async (): Promise<boolean> => (await liveStagings(unfinished)) === 0;
      return (await isQuiet()) ? await repository.sweep(now, isQuiet) : 0;
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
