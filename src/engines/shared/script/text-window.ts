export interface ScriptPosition {
  /** From 1. */
  line: number;
  /** In bytes, from 1. */
  column: number;
}

/** The part of a script that is being read, from the beginning of the current statement. */
export interface TextWindow {
  /** Memory is reused: valid until the next chunk. */
  readonly bytes: Buffer;
  /** Adds a chunk and drops the bytes before an offset; later offsets move by it. */
  append(chunk: Uint8Array, from: number): void;
  /** Position of an offset; offsets must not decrease between two calls. */
  position(offset: number): ScriptPosition;
}

const FIRST_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;

export function createTextWindow(): TextWindow {
  let bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let length = 0;
  let counted = 0;
  let line = 1;
  let lineStart = 0;

  function position(offset: number): ScriptPosition {
    const present = bytes;
    for (let at = counted; at < offset; at += 1) {
      if (present[at] !== LINE_FEED) continue;
      line += 1;
      lineStart = at + 1;
    }
    counted = Math.max(counted, offset);
    return { line, column: offset - lineStart + 1 };
  }

  return {
    get bytes() {
      return bytes.subarray(0, length);
    },
    append(chunk, from) {
      position(from);
      bytes.copyWithin(0, from, length);
      length -= from;
      counted -= from;
      lineStart -= from;
      if (length + chunk.length > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, length + chunk.length));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(chunk, length);
      length += chunk.length;
    },
    position,
  };
}
