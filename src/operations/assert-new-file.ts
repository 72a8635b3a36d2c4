import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserError } from '../runtime/errors.ts';

/** Throws where the file exists, or its folder does not. */
export async function assertNewFile(file: string): Promise<void> {
  // Of a link, whatever it leads to.
  const there = await lstat(file).then(
    () => true,
    () => false,
  );
  if (there) throw fileExists(file);
  const folder = await stat(dirname(file)).catch(() => null);
  if (folder?.isDirectory()) return;
  throw new UserError('usage', `There is no folder ${dirname(file)}`, { hint: 'Create it first.' });
}

export function fileExists(file: string, hint = 'Choose another name, or remove it first.'): UserError {
  return new UserError('file_exists', `${file} exists already`, { hint });
}
