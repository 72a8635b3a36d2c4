import { randomBytes } from 'node:crypto';
import type { Report } from '../runtime/events.ts';
import { claim, foreignFolder } from './claim.ts';
import { createFolder } from './folder.ts';
import { objectKey } from './keys.ts';
import type { ManifestFile } from './manifest.ts';
import { looksWhole, type ObjectToRead } from './objects/object-file.ts';
import { createRepository, type Repository, timeInKey } from './repository.ts';
import { createStaging, liveStagings, type Staging, stagingRoot } from './staging.ts';

export interface LocalRepository extends Repository {
  takenAt(target: string): Promise<string[]>;
  /** Moves a packed, verified object into the repository; `false` when it replaced one. */
  store(file: string, object: { sha256: string }): Promise<boolean>;
  /** Notes an object that was there, whole, and has been made young. */
  found(object: { sha256: string }): void;
  /** The folder of the store. */
  directory: string;
  object(file: Pick<ManifestFile, 'sha256' | 'bytes'>): ObjectToRead;
  /**
   * Whether an object of this size exists; updates its time, so that no sweep removes it before a manifest references
   * it.
   */
  has(file: Pick<ManifestFile, 'sha256' | 'bytes'>): Promise<boolean>;
  stage(): Promise<Staging>;
}

export interface LocalRepositoryOptions {
  directory: string;
  report: Report;
  /** Marks the directory before the first change, and refuses a foreign one. */
  claims?: boolean;
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
    found: ({ sha256 }) => folder.found(objectKey(sha256)),
    directory: folder.name,
    object: ({ sha256, bytes }) => ({ path: folder.path(objectKey(sha256)), sha256, bytes }),
    async has({ sha256, bytes }) {
      const key = objectKey(sha256);
      return (await folder.renew(key)) && looksWhole({ path: folder.path(key), bytes });
    },
    // An active run may be about to reference an unreferenced object.
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
