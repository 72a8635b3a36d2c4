import { chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { EXIT, UserError } from '../../errors.ts';
import { type Edit, editText } from './edit-text.ts';
import { lockFile } from './lock-file.ts';

/**
 * Changes values of a configuration file. One writer at a time; what others have written meanwhile is kept, since the
 * edits are made on what the file says now. The file is replaced whole, and keeps its mode and owner.
 */
export async function editFile(file: string, edits: (text: string) => Edit[]): Promise<void> {
  // A link to a file elsewhere stays a link.
  const path = await realpath(file);
  await using _locked = await lockFile(path);
  const text = await readFile(path, 'utf8');
  const changes = edits(text);
  if (changes.length === 0) return;
  await replaceFile(path, editText(text, changes));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(path);
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(unfinished, 'wx', mode & 0o777);
    try {
      await handle.chmod(mode & 0o777);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Only root may give a file away; whoever else writes it becomes its owner.
    await chown(unfinished, uid, gid).catch(() => {});
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new UserError(`${path} cannot be written: ${(error as Error).message}`, {
      code: 'configuration_not_written',
      exit: EXIT.failed,
      hint: 'Nothing was changed.',
      cause: error,
    });
  }
}
