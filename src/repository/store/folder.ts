import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, copyFile, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { containsPath } from '../../runtime/contains-path.ts';
import { ignoreMissing, syncPath } from '../../runtime/write-file.ts';
import { ContentDiffers } from '../objects/checksum.ts';
import { keyRefused } from './keys.ts';
import { MOST_TEXT_BYTES, type Store, type StoredFile, TooLarge } from './store.ts';

export interface Folder extends Store {
  path(key: string): string;
  /**
   * Moves a finished, synced file to a key; `false` when it replaced an object. Durable after the next `write` or
   * `put`.
   */
  adopt(file: string, key: string): Promise<boolean>;
  /** Records an object that this run found and whose time it updated: its manifest will reference it. */
  found(key: string): void;
  renew(key: string): Promise<boolean>;
}

/** The name of an unfinished file contains its final name and the writing process. */
export const UNFINISHED = /\.\d+(-[0-9a-f.]+)?\.tmp$/;

export const OWN_FOLDERS = ['snapshots', 'objects', 'index', 'locks', 'query-texts', 'cache'];
export const OWN_FOLDER =
  /^(snapshots\/[^/]+|objects\/[0-9a-f]{2}|index|locks|query-texts|cache\/[0-9a-f]{16}\/index)$/;

export function createFolder(directory: string): Folder {
  const root = resolve(directory);

  /** Keys may come from a bucket or a manifest. */
  function path(key: string): string {
    const full = resolve(root, key);
    if (full === root || !containsPath(root, full) || key.includes('\0')) throw keyRefused();
    return full;
  }

  /** Directories with adopted files. Syncing each one at once would take as long as syncing its files. */
  const unsynced = new Set<string>();

  async function place(key: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
    await mkdir(dirname(path(key)), { recursive: true, mode: 0o700 });
    const unfinished = `${path(key)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
    try {
      await fill(unfinished);
      const directories = [...unsynced];
      unsynced.clear();
      await Promise.all([unfinished, ...directories].map(syncPath));
      await rename(unfinished, path(key));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await syncPath(dirname(path(key)));
  }

  async function renew(key: string): Promise<boolean> {
    const now = new Date();
    if ((await utimes(path(key), now, now).catch(ignoreMissing)) === null) return false;
    // The adopting process may have been killed before its sync.
    unsynced.add(dirname(path(key)));
    return true;
  }

  return {
    name: root,
    path,
    list: async (prefix) => (await filesBelow(root, path(prefix))).filter(({ key }) => !UNFINISHED.test(key)),
    top: async () => (await topOf(root).catch(ignoreMissing)) ?? [],
    find: (key) => describeFile(root, path(key)),
    read: (key) => readText(path(key)).catch(ignoreMissing),
    write: (key, text) =>
      place(key, async (unfinished) => {
        const file = await open(unfinished, 'wx', 0o600);
        await file.writeFile(text).finally(() => file.close());
      }),
    async present(keys) {
      const found = await Promise.all(keys.map((key) => stat(path(key)).catch(ignoreMissing)));
      return new Set(keys.filter((_, index) => found[index]));
    },
    put: (key, source, { signal, onBytes, sha256 }) =>
      place(key, async (unfinished) => {
        signal.throwIfAborted();
        const bytes = await copyNew(source, unfinished);
        if (sha256 !== undefined && sha256 !== (await hashFile(unfinished))) throw new ContentDiffers();
        onBytes(bytes);
      }),
    async get(key, destination, { signal, onBytes, maxBytes = Number.POSITIVE_INFINITY }) {
      signal.throwIfAborted();
      if ((await stat(path(key))).size > maxBytes) throw new TooLarge();
      onBytes(await copyNew(path(key), destination));
      return null;
    },
    async adopt(file, key) {
      const wasThere = await renew(key);
      // Replaces an existing object, which may be damaged: this one was just written or verified.
      await moveTo(path(key), file);
      unsynced.add(dirname(path(key)));
      return !wasThere;
    },
    renew,
    found: (key) => void unsynced.add(dirname(path(key))),
    remove: (key) => rm(path(key), { force: true }),
    removeUnfinished: (before) => removeUnfinished(root, before),
  };
}

/** Copies to a new file, and returns its bytes. */
async function copyNew(source: string, destination: string): Promise<number> {
  await copyFile(source, destination, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  return (await stat(destination)).size;
}

async function removeUnfinished(root: string, before: Date): Promise<void> {
  const below = await Promise.all(OWN_FOLDERS.map((folder) => filesBelow(root, join(root, folder))));
  for (const { key } of below.flat()) {
    if (!UNFINISHED.test(key) || !OWN_FOLDER.test(dirname(key))) continue;
    const now = await describeFile(root, join(root, key));
    if (now && now.modified < before) await rm(join(root, key), { force: true });
  }
}

async function moveTo(path: string, file: string): Promise<void> {
  await rename(file, path).catch(async (error) => {
    ignoreMissing(error);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rename(file, path);
  });
}

export async function topOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
}

export async function filesBelow(root: string, folder: string): Promise<StoredFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoreMissing);
  const files: StoredFile[] = [];
  for (const entry of entries ?? []) {
    const file = entry.isFile() ? await describeFile(root, join(entry.parentPath, entry.name)) : null;
    if (file) files.push(file);
  }
  return files.sort((a, b) => (a.key < b.key ? -1 : 1));
}

export async function describeFile(root: string, path: string): Promise<StoredFile | null> {
  const facts = await stat(path).catch(ignoreMissing);
  if (!facts) return null;
  const { size: bytes, mtime: modified, mtimeMs } = facts;
  return { key: relative(root, path).replaceAll(sep, '/'), bytes, modified, version: `${bytes}-${mtimeMs}` };
}

async function readText(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > MOST_TEXT_BYTES) throw new TooLarge();
  return await readFile(path, 'utf8');
}

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
