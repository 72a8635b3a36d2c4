import { join, sep } from 'node:path';

/** Reports whether a path is the folder or below it; both are absolute. */
export function containsPath(folder: string, path: string): boolean {
  return join(path, sep).startsWith(join(folder, sep));
}
