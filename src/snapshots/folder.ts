import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, copyFile, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ContentDiffers } from './objects/checksum.ts';
import type { Store, StoredFile } from './store.ts';

/** A store that is a folder on this machine: keys are paths below it. */
export interface Folder extends Store {
  path(key: string): string;
  /**
   * Takes a finished, synced file over under a key; `false` when the key is there already (its age is renewed). Durable
   * from the next `write` or `put` on.
   */
  adopt(file: string, key: string): Promise<boolean>;
  /** Makes what lies under a key young; `false` when there is nothing. */
  renew(key: string): Promise<boolean>;
}

/** What is not whole yet is called so. */
const UNFINISHED = '.tmp';

export function createFolder(root: string): Folder {
  const path = (key: string): string => join(root, key);
  /** Directories of what was taken over. To sync each at once would take as long as to sync its files. */
  const unsynced = new Set<string>();

  /** Puts what `fill` writes under a key, on the disk before it has its name. */
  async function place(key: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
    await mkdir(dirname(path(key)), { recursive: true, mode: 0o700 });
    const unfinished = `${path(key)}.${process.pid}-${performance.now()}${UNFINISHED}`;
    try {
      await fill(unfinished);
      const directories = [...unsynced];
      unsynced.clear();
      await Promise.all([unfinished, ...directories].map(sync));
      await rename(unfinished, path(key));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await sync(dirname(path(key)));
  }

  async function renew(key: string): Promise<boolean> {
    const now = new Date();
    if ((await utimes(path(key), now, now).catch(ignoreMissing)) === null) return false;
    // Whoever took it over may have been killed since.
    unsynced.add(dirname(path(key)));
    return true;
  }

  return {
    name: root,
    path,
    list: async (prefix) => (await filesBelow(root, prefix)).filter(({ key }) => !key.endsWith(UNFINISHED)),
    read: (key) => readFile(path(key), 'utf8').catch(ignoreMissing),
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
        await copyFile(source, unfinished, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
        if (sha256 !== undefined && sha256 !== (await hashFile(unfinished))) throw new ContentDiffers();
        onBytes((await stat(unfinished)).size);
      }),
    async get(key, destination, { signal, onBytes }) {
      signal.throwIfAborted();
      await copyFile(path(key), destination, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      onBytes((await stat(destination)).size);
      return null;
    },
    async adopt(file, key) {
      if (await renew(key)) {
        await rm(file);
        return false;
      }
      await mkdir(dirname(path(key)), { recursive: true, mode: 0o700 });
      await rename(file, path(key));
      unsynced.add(dirname(path(key)));
      return true;
    },
    renew,
    remove: (key) => rm(path(key), { force: true }),
    async removeUnfinished(before) {
      for (const { key, modified } of await filesBelow(root, '.')) {
        if (key.endsWith(UNFINISHED) && modified < before) await rm(path(key), { force: true });
      }
    },
  };
}

async function filesBelow(root: string, prefix: string): Promise<StoredFile[]> {
  const entries = await readdir(join(root, prefix), { recursive: true, withFileTypes: true }).catch(ignoreMissing);
  const files: StoredFile[] = [];
  for (const entry of entries ?? []) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const facts = await stat(file).catch(ignoreMissing);
    if (!facts) continue;
    const { size: bytes, mtime: modified, mtimeMs } = facts;
    files.push({ key: file.slice(root.length + 1), bytes, modified, version: `${bytes}-${mtimeMs}` });
  }
  return files.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** A rename survives a power cut only when its directory has been synced. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
