import { normalize } from 'node:path';

/** The variable of an environment file that has the URL. */
export const KEY = /^[A-Z][A-Z0-9_]{0,99}$/;

const FILE = /^(?:[^/\\\0]+\/)*\.env(?:\.[\w-]+)*$/;

/** Reports whether a path is `.env`, `.env.NAME` or such a file in folders of the tree, but none of git. */
export function isEnvironmentFile(path: string): boolean {
  return path.length <= 500 && normalize(path) === path && FILE.test(path) && !/(?:^|\/)\.(?:git|\.)\//i.test(path);
}
