import { constants, type FileHandle, open } from 'node:fs/promises';

/** Opens a file to read. Follows no link, waits for no writer of a pipe, and throws for anything but a regular file. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error('it is not a file');
}
