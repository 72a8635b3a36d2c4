import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';

export interface FileOwnership {
  mode: number;
  uid?: number;
  gid?: number;
}

/** Replaces a file at once, so that a reader finds the old content or the new one. */
export async function replaceFile(path: string, text: string | Uint8Array, ownership: FileOwnership): Promise<void> {
  await writeThen((unfinished) => rename(unfinished, path), path, { text, ownership });
}

/** Creates a file at once. Fails with `EEXIST` where one is there: unlike a rename, a link replaces nothing. */
export async function createFile(
  path: string,
  text: string | Iterable<string>,
  ownership: FileOwnership,
): Promise<void> {
  await writeThen((unfinished) => link(unfinished, path), path, { text, ownership });
}

async function writeThen(
  place: (unfinished: string) => Promise<void>,
  path: string,
  { text, ownership }: { text: string | Uint8Array | Iterable<string>; ownership: FileOwnership },
): Promise<void> {
  const unfinished = await writeTemporary(path, text, ownership);
  try {
    await place(unfinished);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Writes a temporary file in the same folder, to replace another one, and syncs it. */
export async function writeTemporary(
  path: string,
  text: string | Uint8Array | Iterable<string>,
  { mode, uid, gid }: FileOwnership,
): Promise<string> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const handle = await open(unfinished, 'wx', mode & 0o600);
  try {
    // Only root may change the owner.
    if (uid !== undefined && gid !== undefined) await handle.chown(uid, gid).catch(() => {});
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
    return unfinished;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}
