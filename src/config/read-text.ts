import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { Flaw, Position } from './parse.ts';

/** A configuration is written by hand; what is larger is another file, or a device that never ends. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a file, or why there is none. */
export async function readText(path: string): Promise<{ text: string } | { flaw: Flaw }> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of createReadStream(path, { end: MAX_BYTES })) chunks.push(chunk);
    return decodeText(Buffer.concat(chunks));
  } catch (error) {
    return { flaw: unreadable(path, error as NodeJS.ErrnoException) };
  }
}

/** What the system's codes mean to a reader. */
const REASONS: Record<string, string> = { EISDIR: 'it is a directory', EACCES: 'permission denied' };

function unreadable(path: string, { code = '', message }: NodeJS.ErrnoException): Flaw {
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const hint = 'Check the path, or write a configuration: tool config init';
    return { ...START, code: 'configuration_missing', message: `There is no file ${path}`, hint };
  }
  return { ...START, code: 'file_unreadable', message: `cannot be read: ${REASONS[code] ?? message}`, hint: null };
}

const START: Position = { line: 1, column: 1 };

function decodeText(bytes: Buffer): { text: string } | { flaw: Flaw } {
  const found =
    bytes.length > MAX_BYTES
      ? { ...START, message: `the file is larger than ${MAX_BYTES / 1024 / 1024} MB` }
      : isUtf8(bytes)
        ? findControlCharacter(bytes)
        : findInvalidByte(bytes);
  if (found) return { flaw: { ...found, code: 'not_text', hint: 'Save the configuration as plain text in UTF-8.' } };
  // Decoding drops a byte order mark, which would shift the columns of the first line.
  return { text: new TextDecoder().decode(bytes) };
}

type Found = Position & Pick<Flaw, 'message'>;

function findInvalidByte(bytes: Buffer): Found {
  let line = 1;
  let start = 0;
  while (true) {
    const newline = bytes.indexOf(0x0a, start);
    const content = bytes.subarray(start, newline === -1 ? bytes.length : newline);
    if (newline === -1 || !isUtf8(content)) {
      // Decoding puts this mark in the place of what it cannot read.
      const column = content.toString('utf8').indexOf('\uFFFD') + 1;
      return { line, column: Math.max(column, 1), message: 'the file is not text in UTF-8' };
    }
    line += 1;
    start = newline + 1;
  }
}

/** YAML allows no control characters, and a NUL is the sign of a binary file. */
function findControlCharacter(bytes: Buffer): Found | null {
  const at = bytes.findIndex((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);
  if (at === -1) return null;
  const before = bytes.subarray(0, at).toString('utf8').split('\n');
  const code = bytes.readUInt8(at).toString(16).padStart(4, '0').toUpperCase();
  return {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    message: `the control character U+${code} is not text`,
  };
}
