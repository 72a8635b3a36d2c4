import { constants, open } from 'node:fs/promises';

const MOST_BYTES = 256 * 1024;

/** Reads a small file as bytes in characters; `null` without one. Follows no link, and waits for no writer of a pipe. */
export async function readBytes(path: string, refuse: (message: string) => Error): Promise<string | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw refuse(error.code === 'ELOOP' ? `${path} is a link` : `${path} cannot be read`);
  });
  if (!handle) return null;
  await using file = handle;
  const stat = await file.stat();
  if (!stat.isFile() || stat.size > MOST_BYTES) throw refuse(`${path} is no plain file, or a large one`);
  return file.readFile('latin1');
}
