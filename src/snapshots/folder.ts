import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface StoredFile {
  /** With `/` between its parts, relative to the store. */
  key: string;
  bytes: number;
  modified: Date;
}

/** A store that is a folder on this machine: keys are paths below it. */
export interface Folder {
  path(key: string): string;
  list(prefix: string): Promise<StoredFile[]>;
  read(key: string): Promise<string>;
  /** Whole or not at all, and on the disk when it resolves. */
  write(key: string, text: string): Promise<void>;
  /** Takes a finished, synced file over under a key; `false` when the key is there already (its age is renewed). */
  adopt(file: string, key: string): Promise<boolean>;
  remove(key: string): Promise<void>;
}

export function createFolder(root: string): Folder {
  const path = (key: string): string => join(root, key);

  return {
    path,
    list: (prefix) => listBelow(root, prefix),
    read: (key) => readFile(path(key), 'utf8'),
    async write(key, text) {
      await mkdir(dirname(path(key)), { recursive: true, mode: 0o700 });
      const unfinished = `${path(key)}.${process.pid}.tmp`;
      const file = await open(unfinished, 'w', 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path(key));
      await syncDirectory(dirname(path(key)));
    },
    async adopt(file, key) {
      if (await exists(path(key))) {
        const now = new Date();
        await utimes(path(key), now, now);
        await rm(file);
        return false;
      }
      await mkdir(dirname(path(key)), { recursive: true, mode: 0o700 });
      await rename(file, path(key));
      await syncDirectory(dirname(path(key)));
      return true;
    },
    remove: (key) => rm(path(key), { force: true }),
  };
}

async function listBelow(root: string, prefix: string): Promise<StoredFile[]> {
  const entries = await readdir(join(root, prefix), { recursive: true, withFileTypes: true }).catch(ignoreMissing);
  const files: StoredFile[] = [];
  for (const entry of entries ?? []) {
    if (!entry.isFile() || entry.name.endsWith('.tmp')) continue;
    const file = join(entry.parentPath, entry.name);
    const facts = await stat(file).catch(ignoreMissing);
    if (facts) files.push({ key: file.slice(root.length + 1), bytes: facts.size, modified: facts.mtime });
  }
  return files.sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(ignoreMissing)) !== undefined;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

/** A rename survives a power cut only when its directory has been synced. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}
