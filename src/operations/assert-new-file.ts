import { lstat } from 'node:fs/promises';
import { UserError } from '../runtime/errors.ts';

export async function assertNewFile(file: string): Promise<void> {
  // Of a link, whatever it leads to.
  const there = await lstat(file).then(
    () => true,
    () => false,
  );
  if (!there) return;
  throw new UserError('file_exists', `${file} exists already`, { hint: 'Choose another name, or remove it first.' });
}
