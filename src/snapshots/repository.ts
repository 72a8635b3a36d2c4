import { randomBytes } from 'node:crypto';
import type { Report } from '../events.ts';
import { type Catalogue, createCatalogue, objectKey, timeInKey } from './catalogue.ts';
import { createFolder } from './folder.ts';
import type { ManifestFile } from './manifest.ts';
import type { ObjectToRead } from './objects/object-file.ts';
import { createStaging, liveStagings, type Staging, stagingRoot } from './staging.ts';

/** The snapshots of this machine. */
export interface Repository extends Catalogue {
  /** When the target's snapshots were taken, newest first; none is read for it. */
  takenAt(target: string): Promise<string[]>;
  /** Takes a packed object over; `false` when it was there already. */
  store(file: string, object: { sha256: string }): Promise<boolean>;
  object(file: Pick<ManifestFile, 'sha256' | 'bytes'>): ObjectToRead;
  /** Whether an object is stored; makes it young, so that whoever is about to name it finds it then. */
  has(file: Pick<ManifestFile, 'sha256'>): Promise<boolean>;
  /** A folder for one run's unfinished files; those of dead runs are removed. */
  stage(): Promise<Staging>;
}

export function createRepository({ directory, report }: { directory: string; report: Report }): Repository {
  const folder = createFolder(directory);
  const catalogue = createCatalogue(folder, report);
  const unfinished = stagingRoot(directory);
  return {
    ...catalogue,
    takenAt: async (target) => (await catalogue.files(target)).map(({ key }) => timeInKey(key)),
    store: (file, { sha256 }) => folder.adopt(file, objectKey(sha256)),
    object: ({ sha256, bytes }) => ({ path: folder.path(objectKey(sha256)), sha256, bytes }),
    has: ({ sha256 }) => folder.renew(objectKey(sha256)),
    // A run that is building or pulling may be about to name an object that nobody else names.
    sweep: async (now) => ((await liveStagings(unfinished)) > 0 ? 0 : catalogue.sweep(now)),
    stage: () => createStaging(unfinished),
  };
}

export function newSnapshotId(): string {
  return randomBytes(4).toString('hex');
}
