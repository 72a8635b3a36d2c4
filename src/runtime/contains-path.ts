import { realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

/** Reports whether a path is the folder or below it; both are absolute. */
export function containsPath(folder: string, path: string): boolean {
  return join(path, sep).startsWith(join(folder, sep));
}

/** Resolves a file of a folder that may come from others: a link that leads out of its folder is not followed. */
export async function resolveInFolder(path: string): Promise<string> {
  const real = await realpath(path);
  if (!containsPath(await realpath(dirname(path)), real)) throw new Error('it is a link out of its folder');
  return real;
}
