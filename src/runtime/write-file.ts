import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Without an owner the umask of the process applies to the mode; with one, mode and owner are set exactly. */
export interface FileOwnership {
  mode: number;
  uid?: number;
  gid?: number;
}

type FileContent = string | Uint8Array | Iterable<string>;

/** Replaces a file at once, so that a reader finds the old content or the new one. */
export async function replaceFile(path: string, content: FileContent, ownership: FileOwnership): Promise<void> {
  await writeThen((unfinished) => rename(unfinished, path), path, { content, ownership });
}

/** Creates a file at once. Fails with `EEXIST` where one is there: unlike a rename, a link replaces nothing. */
export async function createFile(path: string, content: FileContent, ownership: FileOwnership): Promise<void> {
  await writeThen((unfinished) => link(unfinished, path), path, { content, ownership });
}

/** Replaces a file of the program for its user only, in a folder that is created where it is missing. */
export async function writePrivateFile(path: string, content: FileContent): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, content, { mode: 0o600 });
}

/** Returns mode and owner of a file for the one that replaces it; `mode` for a file that does not exist. */
export async function ownershipOf(path: string, mode: number): Promise<FileOwnership> {
  const found = await stat(path).catch(ignoreMissing);
  return found ? { mode: found.mode & 0o777, uid: found.uid, gid: found.gid } : { mode };
}

/** A rename survives a power failure only after its directory is synced. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

export function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

async function writeThen(
  place: (unfinished: string) => Promise<void>,
  path: string,
  { content, ownership }: { content: FileContent; ownership: FileOwnership },
): Promise<void> {
  const unfinished = await writeTemporary(path, content, ownership);
  try {
    await place(unfinished);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Writes a temporary file in the same folder, to replace another one, and syncs it. */
export async function writeTemporary(
  path: string,
  content: FileContent,
  { mode, uid, gid }: FileOwnership,
): Promise<string> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const hasOwner = uid !== undefined && gid !== undefined;
  const handle = await open(unfinished, 'wx', hasOwner ? mode & 0o600 : mode);
  try {
    if (hasOwner) {
      // Only root may change the owner.
      await handle.chown(uid, gid).catch(() => {});
      await handle.chmod(mode);
    }
    await handle.writeFile(content);
    await handle.sync();
    return unfinished;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}
