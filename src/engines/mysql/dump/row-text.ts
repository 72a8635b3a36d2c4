/**
 * Rows as text, in the format of `LOAD DATA`: fields end with a tab, rows with a line feed, and a backslash stands
 * before both and before itself; NULL is `\N`. Bytes are as the server has them, in each column's own character set.
 * https://dev.mysql.com/doc/refman/en/load-data.html
 */

/** Ends the content of a complete file: no row begins with a backslash and a dot. Its own line feed begins it. */
export const ROWS_TERMINATOR = '\n\\.\n';
export const ROWS_TERMINATOR_BYTES = 4;
export const ROWS_TERMINATOR_LINES = 2;

const TAB = 9;
const LINE_FEED = 10;
const BACKSLASH = 92;
const LETTER_N = 78;
/** What stands for a tab and a line feed after a backslash: `t`, `n`. */
const ESCAPED: Record<number, number> = { [TAB]: 116, [LINE_FEED]: 110, [BACKSLASH]: BACKSLASH };

/** The first byte of a length in the server's protocol: below 251 the length itself, else how it is written. */
const NULL_FIELD = 0xfb;
const TWO_BYTES = 0xfc;
const THREE_BYTES = 0xfd;

/** How many bytes a row of the protocol takes as text at most: NULL, of one byte there, is two and a tab here. */
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
    const first = buffer[from++] as number;
    if (first === NULL_FIELD) {
      into[to++] = BACKSLASH;
      into[to++] = LETTER_N;
      continue;
    }
    let length = first;
    if (first === TWO_BYTES) {
      length = (buffer[from] as number) | ((buffer[from + 1] as number) << 8);
      from += 2;
    } else if (first >= THREE_BYTES) {
      const bytes = first === THREE_BYTES ? 3 : 8;
      length = 0;
      for (let at = bytes - 1; at >= 0; at -= 1) length = length * 256 + (buffer[from + at] as number);
      from += bytes;
    }
    for (const last = from + length; from < last; from += 1) {
      const byte = buffer[from] as number;
      if (byte > LINE_FEED && byte !== BACKSLASH) {
        into[to++] = byte;
        continue;
      }
      const escaped = ESCAPED[byte];
      if (escaped === undefined) {
        into[to++] = byte;
        continue;
      }
      into[to++] = BACKSLASH;
      into[to++] = escaped;
    }
  }
  into[to++] = LINE_FEED;
  return to;
}
