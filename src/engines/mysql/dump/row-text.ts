/**
 * Rows as text, in the format of `LOAD DATA`: fields end with a tab, rows with a line feed, and a backslash stands
 * before both and before itself; NULL is `\N`. Bytes are as the server has them, in each column's own character set.
 * https://dev.mysql.com/doc/refman/en/load-data.html
 */

/** Ends the content of a complete file: no row begins with a backslash and a dot. Its own line feed begins it. */
export const ROWS_TERMINATOR = '\n\\.\n';
export const ROWS_TERMINATOR_LINES = 2;

export const TAB = 9;
export const LINE_FEED = 10;
export const BACKSLASH = 92;
export const LETTER_N = 78;
/** Letters that represent a tab and a line feed after a backslash: `t`, `n`. */
const ESCAPED: Record<number, number> = { [TAB]: 116, [LINE_FEED]: 110, [BACKSLASH]: BACKSLASH };

/** The first byte of a length in the server's protocol: below 251 the length itself, else how it is written. */
export const NULL_FIELD = 0xfb;
const TWO_BYTES = 0xfc;
const THREE_BYTES = 0xfd;

/** Returns the most bytes that a row of the protocol has as text: NULL, of one byte there, is two and a tab here. */
export function mostBytesOf(packetBytes: number): number {
  return 3 * packetBytes + 1;
}

export interface RowPacket {
  buffer: Uint8Array;
  offset: number;
  end: number;
}

/** Writes a row of the server's text protocol as text; where the next one begins. */
export function writeRow({ buffer, offset, end }: RowPacket, into: Uint8Array, start: number): number {
  let from = offset;
  let to = start;
  while (from < end) {
    if (from > offset) into[to++] = TAB;
    const first = buffer[from] as number;
    if (first === NULL_FIELD) {
      from += 1;
      into[to++] = BACKSLASH;
      into[to++] = LETTER_N;
      continue;
    }
    const last = from + headBytes(first) + lengthOf(buffer, from);
    from += headBytes(first);
    to = writeBytes({ buffer, offset: from, end: last }, into, to);
    from = last;
  }
  into[to++] = LINE_FEED;
  return to;
}

/** Returns the bytes of the length of a value, by the first of them. */
export function headBytes(first: number): number {
  if (first < NULL_FIELD) return 1;
  return first === TWO_BYTES ? 3 : first === THREE_BYTES ? 4 : 9;
}

function lengthOf(buffer: Uint8Array, from: number): number {
  const first = buffer[from] as number;
  if (first < NULL_FIELD) return first;
  let length = 0;
  for (let at = from + headBytes(first) - 1; at > from; at -= 1) length = length * 256 + (buffer[at] as number);
  return length;
}

export function writeBytes({ buffer, offset, end }: RowPacket, into: Uint8Array, start: number): number {
  let to = start;
  for (let at = offset; at < end; at += 1) {
    const byte = buffer[at] as number;
    const escaped = byte > LINE_FEED && byte !== BACKSLASH ? undefined : ESCAPED[byte];
    if (escaped === undefined) into[to++] = byte;
    else {
      into[to++] = BACKSLASH;
      into[to++] = escaped;
    }
  }
  return to;
}
