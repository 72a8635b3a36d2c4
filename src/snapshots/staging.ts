import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder of unfinished files that belongs to one run of one process. */
export interface Staging extends AsyncDisposable {
  path(name: string): string;
  /** A new, empty folder in it. */
  folder(name: string): Promise<string>;
}

/** Where the runs of a working directory have their unfinished files. */
export function stagingRoot(workingDirectory: string): string {
  return join(workingDirectory, 'staging');
}

/** Makes a staging folder, and removes those whose process has ended without doing so. */
export async function createStaging(root: string): Promise<Staging> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await removeDead(root);
  const directory = join(root, `${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(directory, { mode: 0o700 });
  return {
    path: (name) => join(directory, name),
    async folder(name) {
      await mkdir(join(directory, name), { mode: 0o700 });
      return join(directory, name);
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** How many runs are working below `root` now. */
export async function liveStagings(root: string): Promise<number> {
  return (await names(root)).filter(isAlive).length;
}

async function removeDead(root: string): Promise<void> {
  const dead = (await names(root)).filter((name) => !isAlive(name));
  await Promise.all(dead.map((name) => rm(join(root, name), { recursive: true, force: true })));
}

async function names(root: string): Promise<string[]> {
  return readdir(root).catch(() => []);
}

function isAlive(name: string): boolean {
  const pid = Number.parseInt(name, 10);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process answers EPERM.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
