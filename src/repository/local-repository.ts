import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import type { Report } from '../runtime/events.ts';
import type { ManifestFile } from './manifest/manifest.ts';
import { looksWhole, type ObjectToRead } from './objects/read-object.ts';
import { createRepository, namedObjects, type Repository, type SaveLists, timeInKey } from './repository.ts';
import { createStaging, liveStagings, type StagingFolder, stagingRoot } from './staging.ts';
import { claim, foreignFolder } from './store/claim.ts';
import { createFolder, type Folder } from './store/folder.ts';
import { objectKey, queryKey } from './store/keys.ts';

export interface LocalRepository extends Repository, SaveLists {
  takenAt(target: string): Promise<string[]>;
  /** Moves a packed, verified object into the repository; `false` when it replaced one. */
  store(file: string, object: { sha256: string }): Promise<boolean>;
  /** Notes an object that a thread has written into the folder. */
  added(object: { sha256: string }): void;
  /**
   * Runs the work of a new snapshot. When it fails, removes the objects that it alone has stored; they stay while
   * another run is active, which may be about to reference them.
   */
  withoutLeftovers<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Runs the work, then removes the objects that it has stored, in the same way. */
  withScratch<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Notes an object that was there, whole, and has been made young. */
  found(object: { sha256: string }): void;
  /** The folder of the store. */
  directory: string;
  object(file: Pick<ManifestFile, 'sha256' | 'bytes'>): ObjectToRead;
  /**
   * Reports whether an object of this size exists; updates its time, so that no sweep removes it before a manifest
   * references it.
   */
  has(file: Pick<ManifestFile, 'sha256' | 'bytes'>): Promise<boolean>;
  stage(): Promise<StagingFolder>;
  /** Stores the query of a sanitized snapshot until the snapshot is removed. No push sends it. */
  writeQuery(id: string, text: string): Promise<void>;
  /** Files of stored queries, by the id of their snapshot. */
  listQueries(): Promise<Map<string, string>>;
}

export interface LocalRepositoryOptions {
  directory: string;
  report: Report;
  /** Marks the directory before the first change, and refuses a foreign one. */
  claims?: boolean;
  configured?: string[];
}

export function createLocalRepository(options: LocalRepositoryOptions): LocalRepository {
  const { directory, report, claims = false, configured = [] } = options;
  const folder = createFolder(directory);
  let claimed: Promise<void> | undefined;
  const ready = async (): Promise<void> => {
    if (!claims) return;
    claimed ??= claim(folder, { configured, refusal: (foreign) => foreignFolder(directory, foreign) });
    await claimed;
  };
  const repository = createRepository(folder, report, { saves: true });
  const unfinished = stagingRoot(directory);
  const work = createNewObjects({ folder, unfinished, naming: repository.naming });

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
      await folder.remove(queryKey(manifest.id));
    },
    async store(file, { sha256 }) {
      await ready();
      if (work.isFailed()) return false;
      const isNew = await folder.adopt(file, objectKey(sha256));
      if (isNew) work.add(sha256);
      return isNew;
    },
    added: ({ sha256 }) => work.add(sha256),
    withoutLeftovers: (run) => work.run(run, { scratch: false }),
    withScratch: (run) => work.run(run, { scratch: true }),
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
    async writeQuery(id, text) {
      await ready();
      await folder.write(queryKey(id), text);
    },
    async listQueries() {
      const files = await folder.list('query-texts');
      return new Map(files.map(({ key }) => [key.slice('query-texts/'.length, -'.sql'.length), folder.path(key)]));
    },
  };
}

/** The objects that the work of a new snapshot has stored, until it ends. */
function createNewObjects({
  folder,
  unfinished,
  naming,
}: Pick<Repository, 'naming'> & { folder: Folder; unfinished: string }) {
  const added = new Set<string>();
  let isFailed = false;

  /** Moves the objects away before it looks for their users: a run that begins later stores them anew. */
  async function removeAdded(): Promise<void> {
    if (added.size === 0) return;
    await using staging = await createStaging(unfinished);
    const moved: string[] = [];
    for (const sha256 of added) {
      const isMoved = await rename(folder.path(objectKey(sha256)), staging.path(sha256)).then(
        () => true,
        () => false,
      );
      if (isMoved) moved.push(sha256);
    }
    const isAlone = (await liveStagings(unfinished)) === 1;
    const used = isAlone ? namedObjects(await naming(added)) : added;
    for (const sha256 of moved) if (used.has(sha256)) await folder.adopt(staging.path(sha256), objectKey(sha256));
  }

  return {
    add: (sha256: string): void => void added.add(sha256),
    isFailed: () => isFailed,
    async run<Result>(work: () => Promise<Result>, { scratch }: { scratch: boolean }): Promise<Result> {
      added.clear();
      isFailed = false;
      let isDone = false;
      try {
        const result = await work();
        isDone = !scratch;
        return result;
      } finally {
        if (!isDone) {
          isFailed = true;
          // The sweep removes them after a day.
          await removeAdded().catch(() => {});
        }
      }
    },
  };
}

export function newSnapshotId(): string {
  return randomBytes(4).toString('hex');
}
