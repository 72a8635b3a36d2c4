import { chown, constants, copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Command } from '../../../process/runner.ts';
import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';

interface CopyOptions {
  /** Owner of the copy, if we are root. */
  user?: Command['user'];
  leaveOut(path: string): boolean;
  /** Waits for the disk. */
  sync?: boolean;
  signal: AbortSignal;
}

const COPIED_AT_ONCE = 8;

/** Copies folders and regular files, where the file system can without reading them. Links and other files are left out. */
export async function copyDirectory(from: string, to: string, options: CopyOptions): Promise<void> {
  const { user, leaveOut, sync = false, signal } = options;
  const own = async (path: string): Promise<void> => {
    if (user) await chown(path, user.uid, user.gid);
  };
  await mkdir(to, { mode: 0o700 });
  await own(to);
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({ entry, path: relative(from, join(entry.parentPath, entry.name)) }));
  // A folder is before what is in it.
  for (const { path } of paths.filter(({ entry }) => entry.isDirectory()).sort(byPath)) {
    await mkdir(join(to, path), { mode: 0o700 });
    await own(join(to, path));
  }
  const files = paths.filter(({ entry, path }) => entry.isFile() && !leaveOut(path));
  await mapWithConcurrency(files, COPIED_AT_ONCE, async ({ path }) => {
    signal.throwIfAborted();
    await copyFile(join(from, path), join(to, path), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await own(join(to, path));
    if (sync) await syncFile(join(to, path));
  });
}

async function syncFile(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
