import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  chmod,
  constants,
  copyFile,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { clearEnvelope, type Envelope } from './encryption/envelope.ts';
import { keyRefused } from './keys.ts';
import { ContentDiffers, createChecksum } from './objects/checksum.ts';
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
const UNFINISHED = /\.\d+(-[0-9a-f.]+)?\.tmp$/;

const OWN_FOLDERS = ['snapshots', 'objects', 'index', 'locks', 'cache'];
const OWN_FOLDER = /^(snapshots\/[^/]+|objects\/[0-9a-f]{2}|index|locks|cache\/[0-9a-f]{16}\/index)$/;

/** A multiple of 64 kB. */
const PIECE_BYTES = 1024 * 1024;

export interface FolderOptions {
  envelope?: Envelope;
  /** Permissions of a folder of several users, which its files get. Default: for the owner only. */
  mode?: number;
}

interface SealedCopy {
  from: string;
  to: string;
  signal: AbortSignal;
  sha256?: string | undefined;
}

export function createFolder(directory: string, options: FolderOptions = {}): Folder {
  const { envelope = clearEnvelope, mode } = options;
  const root = resolve(directory);
  const isClear = envelope === clearEnvelope;

  /** Keys may come from a bucket or a manifest. */
  function path(key: string): string {
    const full = resolve(root, envelope.nameOf(key));
    if (!full.startsWith(root.endsWith(sep) ? root : root + sep) || key.includes('\0')) throw keyRefused();
    return full;
  }

  /** Directories with adopted files. Syncing each one at once would take as long as syncing its files. */
  const unsynced = new Set<string>();

  async function place(key: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
    await makeFolders(dirname(path(key)));
    const unfinished = `${path(key)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
    try {
      await fill(unfinished);
      if (mode !== undefined) await chmod(unfinished, mode & 0o666);
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

  /** The root of a folder of several users is never made: its disk may not be mounted. */
  async function makeFolders(folder: string): Promise<void> {
    if (mode === undefined) return void (await mkdir(folder, { recursive: true, mode: 0o700 }));
    const parts = relative(root, folder).split(sep).filter(Boolean);
    for (const [index] of parts.entries()) {
      const one = join(root, ...parts.slice(0, index + 1));
      await mkdir(one).then(() => chmod(one, mode & 0o2777), ignoreExisting);
    }
  }

  async function seal(key: string, { from, to, signal, sha256 }: SealedCopy): Promise<void> {
    await using file = await open(from);
    await using sealed = await open(to, 'wx', 0o600);
    const checksum = createChecksum(file);
    const source = await envelope.source(key, { file, checksum });
    const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (let start = 0; start < source.bytes; start += PIECE_BYTES) {
      signal.throwIfAborted();
      await sealed.writeFile(await source.read(start, buffer.subarray(0, Math.min(PIECE_BYTES, source.bytes - start))));
    }
    if (sha256 !== undefined && sha256 !== (await checksum.digest())) throw new ContentDiffers();
  }

  async function openSealed(key: string, { to, signal }: Omit<SealedCopy, 'from'>): Promise<string | null> {
    await using sealed = await open(path(key));
    const { size: total } = await sealed.stat();
    await using file = await open(to, 'wx+', 0o600);
    const checksum = createChecksum(file);
    const sink = envelope.sink(key, { file, checksum, total });
    const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (let start = 0; start < total; ) {
      signal.throwIfAborted();
      const piece = buffer.subarray(0, Math.min(PIECE_BYTES, total - start));
      await readWhole(sealed, piece, start);
      await sink.write(piece, start);
      start += piece.length;
    }
    return await checksum.digest();
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
    async list(prefix) {
      const files = await filesBelow(root, path(prefix));
      const named = files.flatMap((file) => {
        const key = UNFINISHED.test(file.key) ? null : envelope.keyOf(file.key);
        return key === null ? [] : [{ ...file, key, bytes: envelope.contentBytes(file.bytes) }];
      });
      return isClear ? named : named.sort(byKey);
    },
    async top() {
      const entries = (await readdir(root, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
      return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    },
    async find(key) {
      const file = await describe(root, path(key));
      return file && { ...file, key, bytes: envelope.contentBytes(file.bytes) };
    },
    read: (key) =>
      readBytes(path(key), envelope)
        .then((bytes) => envelope.open(key, bytes).toString())
        .catch(ignoreMissing),
    write: (key, text) =>
      place(key, async (unfinished) => {
        const file = await open(unfinished, 'wx', 0o600);
        await file.writeFile(envelope.seal(key, Buffer.from(text))).finally(() => file.close());
      }),
    async present(keys) {
      const found = await Promise.all(keys.map((key) => stat(path(key)).catch(ignoreMissing)));
      return new Set(keys.filter((_, index) => found[index]));
    },
    put: (key, source, { signal, onBytes, sha256 }) =>
      place(key, async (unfinished) => {
        signal.throwIfAborted();
        if (!isClear) await seal(key, { from: source, to: unfinished, signal, sha256 });
        else {
          await copyFile(source, unfinished, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
          if (sha256 !== undefined && sha256 !== (await hashFile(unfinished))) throw new ContentDiffers();
        }
        onBytes(envelope.contentBytes((await stat(unfinished)).size));
      }),
    async get(key, destination, { signal, onBytes, maxBytes = Number.POSITIVE_INFINITY }) {
      signal.throwIfAborted();
      const facts = await lstat(path(key));
      if (!facts.isFile()) throw keyRefused();
      if (envelope.contentBytes(facts.size) > maxBytes) throw new TooLarge();
      try {
        const sha256 = isClear ? null : await openSealed(key, { to: destination, signal });
        if (isClear) await copyFile(path(key), destination, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
        if (mode !== undefined) await chmod(destination, 0o600);
        onBytes((await stat(destination)).size);
        return sha256;
      } catch (error) {
        await rm(destination, { force: true });
        throw error;
      }
    },
    async adopt(file, key) {
      const wasThere = await renew(key);
      // Replaces an existing object, which may be damaged: this one was just written or verified.
      await rename(file, path(key)).catch(async (error) => {
        ignoreMissing(error);
        await mkdir(dirname(path(key)), { recursive: true, mode: 0o700 });
        await rename(file, path(key));
      });
      unsynced.add(dirname(path(key)));
      return !wasThere;
    },
    renew,
    found: (key) => void unsynced.add(dirname(path(key))),
    remove: (key) => rm(path(key), { force: true }),
    async removeUnfinished(before) {
      const below = await Promise.all(OWN_FOLDERS.map((folder) => filesBelow(root, path(folder))));
      for (const { key } of below.flat()) {
        const finished = envelope.keyOf(key.replace(UNFINISHED, ''));
        if (!UNFINISHED.test(key) || finished === null || !OWN_FOLDER.test(dirname(finished))) continue;
        const now = await describe(root, join(root, key));
        if (now && now.modified < before) await rm(join(root, key), { force: true });
      }
    },
  };
}

async function filesBelow(root: string, folder: string): Promise<StoredFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoreMissing);
  const files: StoredFile[] = [];
  for (const entry of entries ?? []) {
    const file = entry.isFile() ? await describe(root, join(entry.parentPath, entry.name)) : null;
    if (file) files.push(file);
  }
  return files.sort(byKey);
}

function byKey(a: StoredFile, b: StoredFile): number {
  return a.key < b.key ? -1 : 1;
}

async function describe(root: string, path: string): Promise<StoredFile | null> {
  const facts = await lstat(path).catch(ignoreMissing);
  if (!facts?.isFile()) return null;
  const { size: bytes, mtime: modified, mtimeMs } = facts;
  return { key: relative(root, path).replaceAll(sep, '/'), bytes, modified, version: `${bytes}-${mtimeMs}` };
}

/** A link or a pipe in a folder of several users is refused. */
async function readBytes(path: string, envelope: Envelope): Promise<Buffer> {
  const facts = await lstat(path);
  if (!facts.isFile()) throw keyRefused();
  if (envelope.contentBytes(facts.size) > MOST_TEXT_BYTES) throw new TooLarge();
  return await readFile(path);
}

async function readWhole(file: FileHandle, buffer: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    filled += bytesRead;
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
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

/** A rename survives a power failure only after its directory is synced. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
