import { randomBytes } from 'node:crypto';
import { constants, type FileHandle, lstat, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { containsPath } from '../../runtime/contains-path.ts';
import { UserError } from '../../runtime/errors.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { ignoreMissing, syncPath } from '../../runtime/write-file.ts';
import { type Envelope, readFully } from '../encryption/envelope.ts';
import { ContentDiffers, createChecksum } from '../objects/checksum.ts';
import { describeFile, filesBelow, OWN_FOLDER, OWN_FOLDERS, topOf, UNFINISHED } from './folder.ts';
import { keyRefused } from './keys.ts';
import { type Access, explain } from './shared-folder-errors.ts';
import { MOST_TEXT_BYTES, type Store, TooLarge, type Transfer } from './store.ts';

export interface SharedFolderOptions {
  /** Name of the storage profile. */
  profile: string;
  path: string;
  envelope: Envelope;
  /** The working directory, which must be another folder. */
  workingDirectory?: string | undefined;
}

/**
 * The store of a storage profile that is a folder: a disk, a NAS or a synchronized folder. It is never created, since a
 * missing one may be a disk that is not mounted. Its files get the permissions of the folder. Others may write to it:
 * links and pipes in it are refused.
 */
export function openSharedFolder({ profile, path, envelope, workingDirectory }: SharedFolderOptions): Store {
  let folder: Promise<SharedFolder> | undefined;
  const explained = async <Answer>(access: Access, work: (store: SharedFolder) => Promise<Answer>): Promise<Answer> => {
    try {
      folder ??= openFolder(path, { envelope, workingDirectory });
      return await work(await folder);
    } catch (error) {
      throw explain(error, { profile, path, access });
    }
  };
  return {
    name: path,
    list: (prefix) => explained('read', (store) => store.list(prefix)),
    top: () => explained('read', (store) => store.top()),
    find: (key) => explained('read', (store) => store.find(key)),
    read: (key) => explained('read', (store) => store.read(key)),
    present: (keys) => explained('read', (store) => store.present(keys)),
    get: (key, file, transfer) => explained('read', (store) => store.get(key, file, transfer)),
    write: (key, text) => explained('write', (store) => store.write(key, text)),
    put: (key, file, transfer) => explained('write', (store) => store.put(key, file, transfer)),
    remove: (key) => explained('write', (store) => store.remove(key)),
    removeUnfinished: (before) => explained('write', (store) => store.removeUnfinished(before)),
  };
}

async function openFolder(
  path: string,
  { envelope, workingDirectory }: { envelope: Envelope; workingDirectory: string | undefined },
): Promise<SharedFolder> {
  const { mode } = await stat(`${path}/`);
  if (workingDirectory !== undefined) {
    const [one, other] = await Promise.all([realpath(path), realpath(workingDirectory).catch(() => workingDirectory)]);
    if (containsPath(one, other) || containsPath(other, one)) throw sameFolder(path, workingDirectory);
  }
  return new SharedFolder(resolve(path), { envelope, mode });
}

function sameFolder(path: string, workingDirectory: string): UserError {
  return new UserError('storage_foreign', `${path} and the working directory ${workingDirectory} contain each other`, {
    hint: 'Nothing was changed. Set the path of the storage profile to a folder outside the working directory.',
  });
}

/** A multiple of 64 kB. */
const PIECE_BYTES = 1024 * 1024;

const LOOKS_AT_ONCE = 16;

/** A link is not followed, and a pipe is not waited for. */
const AS_IT_IS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

class SharedFolder implements Omit<Store, 'name'> {
  readonly #root: string;
  readonly #envelope: Envelope;
  readonly #mode: number;

  constructor(root: string, { envelope, mode }: { envelope: Envelope; mode: number }) {
    this.#root = root;
    this.#envelope = envelope;
    this.#mode = mode;
  }

  /** Keys may come from a manifest. Rejects when a folder on the way is a link. */
  async #path(key: string): Promise<string> {
    const full = resolve(this.#root, this.#envelope.nameOf(key));
    if (key.includes('\0') || !containsPath(this.#root, full) || full === this.#root) throw keyRefused();
    await this.#assertFolders(dirname(full));
    return full;
  }

  async #assertFolders(folder: string): Promise<void> {
    for (const one of this.#foldersTo(folder)) {
      const facts = await lstat(one).catch(ignoreMissing);
      if (!facts) return;
      if (!facts.isDirectory()) throw keyRefused();
    }
  }

  #foldersTo(folder: string): string[] {
    const parts = relative(this.#root, folder).split(sep).filter(Boolean);
    return parts.map((_, index) => join(this.#root, ...parts.slice(0, index + 1)));
  }

  async #makeFolders(folder: string): Promise<void> {
    await lstat(this.#root);
    for (const one of this.#foldersTo(folder)) {
      const isNew = await mkdir(one).then(() => true, ignoreExisting);
      await using made = await open(one, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      if (isNew) await made.chmod(this.#mode & 0o3777);
    }
  }

  /** Atomic, and durable when it resolves. */
  async #place(key: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    const path = await this.#path(key);
    await this.#makeFolders(dirname(path));
    const unfinished = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
    try {
      await using file = await open(unfinished, 'wx', 0o600);
      await fill(file);
      await file.chmod(this.#mode & 0o666);
      await file.sync();
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await syncPath(dirname(path));
  }

  async list(prefix: string) {
    const folder = resolve(this.#root, this.#envelope.nameOf(prefix));
    if (!containsPath(this.#root, folder)) throw keyRefused();
    await this.#assertFolders(folder);
    const files = await filesBelow(this.#root, folder);
    const named = files.flatMap((file) => {
      const key = UNFINISHED.test(file.key) ? null : this.#envelope.keyOf(file.key);
      return key === null ? [] : [{ ...file, key, bytes: this.#envelope.contentBytes(file.bytes) }];
    });
    return named.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  top() {
    return topOf(this.#root);
  }

  async find(key: string) {
    const path = await this.#path(key);
    if (!(await lstat(path).catch(ignoreMissing))?.isFile()) return null;
    const file = await describeFile(this.#root, path);
    return file && { ...file, key, bytes: this.#envelope.contentBytes(file.bytes) };
  }

  async read(key: string) {
    const file = await openRegular(await this.#path(key)).catch(ignoreMissing);
    if (file === null) return null;
    await using _open = file;
    if (this.#envelope.contentBytes((await file.stat()).size) > MOST_TEXT_BYTES) throw new TooLarge();
    return this.#envelope.open(key, await file.readFile()).toString();
  }

  async present(keys: string[]) {
    const found = await mapWithConcurrency(keys, LOOKS_AT_ONCE, async (key) => {
      return (await lstat(await this.#path(key)).catch(ignoreMissing))?.isFile() ?? false;
    });
    return new Set(keys.filter((_, index) => found[index]));
  }

  write(key: string, text: string) {
    return this.#place(key, (file) => file.writeFile(this.#envelope.seal(key, Buffer.from(text))));
  }

  put(key: string, from: string, { signal, onBytes, sha256 }: Transfer & { sha256?: string | undefined }) {
    return this.#place(key, async (stored) => {
      await using file = await open(from);
      const checksum = createChecksum(file);
      const source = await this.#envelope.source(key, { file, checksum });
      const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
      for (let start = 0; start < source.bytes; start += PIECE_BYTES) {
        signal.throwIfAborted();
        const piece = buffer.subarray(0, Math.min(PIECE_BYTES, source.bytes - start));
        await stored.writeFile(await source.read(start, piece));
      }
      signal.throwIfAborted();
      if (sha256 !== undefined && sha256 !== (await checksum.digest())) throw new ContentDiffers();
      onBytes(this.#envelope.contentBytes(source.bytes));
    });
  }

  async get(key: string, to: string, transfer: Transfer & { maxBytes?: number | undefined }) {
    const { signal, onBytes, maxBytes = Number.POSITIVE_INFINITY } = transfer;
    signal.throwIfAborted();
    await using stored = await openRegular(await this.#path(key));
    const { size: total } = await stored.stat();
    if (this.#envelope.contentBytes(total) > maxBytes) throw new TooLarge();
    try {
      await using file = await open(to, 'wx+', 0o600);
      const checksum = createChecksum(file);
      const sink = this.#envelope.sink(key, { file, checksum, total });
      const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
      for (let start = 0; start < total; start += PIECE_BYTES) {
        signal.throwIfAborted();
        const piece = buffer.subarray(0, Math.min(PIECE_BYTES, total - start));
        await readFully(stored, piece, start);
        onBytes(await sink.write(piece, start));
      }
      return await checksum.digest();
    } catch (error) {
      await rm(to, { force: true });
      throw error;
    }
  }

  async remove(key: string) {
    await rm(await this.#path(key), { force: true });
  }

  async removeUnfinished(before: Date) {
    for (const top of OWN_FOLDERS) {
      const folder = join(this.#root, top);
      await this.#assertFolders(folder);
      for (const { key, modified } of await filesBelow(this.#root, folder)) {
        const finished = this.#envelope.keyOf(key.replace(UNFINISHED, ''));
        if (!UNFINISHED.test(key) || finished === null || !OWN_FOLDER.test(dirname(finished))) continue;
        const path = join(this.#root, key);
        await this.#assertFolders(dirname(path));
        if (modified < before) await rm(path, { force: true });
      }
    }
  }
}

async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, AS_IT_IS).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' || error.code === 'ENXIO' ? keyRefused() : error;
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw keyRefused();
}

function ignoreExisting(error: NodeJS.ErrnoException): false {
  if (error.code !== 'EEXIST') throw error;
  return false;
}
