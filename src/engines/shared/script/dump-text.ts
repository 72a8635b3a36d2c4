import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { UserError } from '../../../runtime/errors.ts';

export type DumpText = AsyncIterable<Uint8Array>;

/** Bytes that tell what a file is: of its content, after decompression. */
const HEAD_BYTES = 64 * 1024;
const TAIL_BYTES = 4096;
const GZIP = Buffer.from([0x1f, 0x8b]);

/** The content of an SQL file, of a compressed one as well. */
export async function* readDumpText(path: string): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path);
  if (!(await firstBytes(path, GZIP.length)).equals(GZIP)) {
    yield* file;
    return;
  }
  const text = createGunzip();
  file.on('error', (error) => text.destroy(error));
  try {
    yield* file.pipe(text);
  } catch (cause) {
    throw isZlibError(cause)
      ? dumpUnreadable(path, 'its compressed content is damaged or cut short', { cause })
      : cause;
  } finally {
    file.destroy();
  }
}

export async function firstBytes(path: string, count: number): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
  return buffer.subarray(0, bytesRead);
}

export async function headOf(text: DumpText): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of text) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= HEAD_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, HEAD_BYTES);
}

/** Passes a dump on, and throws behind its last byte unless it has the line with which its program ends. */
export async function* assertComplete(
  text: DumpText,
  { path, lastLine }: { path: string; lastLine: RegExp },
): AsyncGenerator<Uint8Array> {
  let tail = Buffer.alloc(0);
  for await (const chunk of text) {
    tail = Buffer.concat([tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    yield chunk;
  }
  if (!lastLine.test(tail.toString('latin1'))) throw dumpUnreadable(path, 'it has no end: it is cut short');
}

export function dumpUnreadable(
  path: string,
  why: string,
  { cause, details = [] }: { cause?: unknown; details?: string[] } = {},
): UserError {
  return new UserError('dump_unreadable', `${path} cannot be read: ${why}`, {
    details,
    hint: 'Nothing was stored. Copy or write the dump again.',
    cause,
  });
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}
