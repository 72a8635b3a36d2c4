import { chownSync, mkdirSync } from 'node:fs';
import type { Command } from '../../../src/process/runner.ts';

/** Creates a directory that the account of the server owns. */
export function makeOwned(user: Command['user'], directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (user) chownSync(directory, user.uid, user.gid);
  return directory;
}
