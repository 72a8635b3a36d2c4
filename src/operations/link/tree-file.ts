import { lstat, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { UserError } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/write-file.ts';
import { readBytes } from './read-bytes.ts';

export interface PlannedFile {
  path: string;
  /** `null` where there is no file. */
  before: string | null;
  /** `null`: the file is removed. */
  after: string | null;
}

/** Reads the content of a file in a tree, as bytes; `null` without one. Refuses links, in place of folders too. */
export async function readInTree(folder: string, file: string): Promise<string | null> {
  const path = join(folder, file);
  if (!resolve(path).startsWith(folder + sep)) throw refused(`${path} is outside of the working tree`);
  const parts = file.split('/');
  for (let count = 1; count < parts.length; count++) {
    const part = join(folder, ...parts.slice(0, count));
    const stat = await lstat(part).catch(() => null);
    if (!stat?.isDirectory()) throw refused(stat ? `${part} is a link or no folder` : `${part} does not exist`);
  }
  return readBytes(path, refused);
}

/** Writes or removes a file. For this user only: the line has a password. */
export async function writeInTree({ path, before, after }: PlannedFile): Promise<void> {
  const present = await readBytes(path, refused);
  if (present !== before) throw refused(`${path} has changed meanwhile`);
  if (after === null) await rm(path);
  else await replaceFile(path, Buffer.from(after, 'latin1'), { mode: 0o600 });
}

export function refused(message: string, hint = OTHER_FILE): UserError {
  return new UserError('link_refused', message, { hint });
}

const OTHER_FILE = 'Correct the file, or choose another one: tool link TARGET --file FILE --key KEY';
