import { createRowScanner, type RowFormat } from '../../engines/shared/rows/row-scanner.ts';

/** A value in pieces of at most `PIECE_BYTES`, without the escapes of its format. */
export interface FieldPiece {
  column: number;
  bytes: Uint8Array;
  from: number;
  to: number;
  isFirst: boolean;
  isLast: boolean;
  /** Without escapes, encodings (`%40`, `&#64;`) and bytes above 127 in the stored row. */
  isPlain: boolean;
}

export interface FieldScannerOptions {
  format: RowFormat;
  /** Selects the columns whose values are read. */
  isWanted: (column: number) => boolean;
  /**
   * The end of a field, where it need not be read. -1: it is to be read.
   * Default: every field is.
   */
  skip?: (column: number, bytes: Uint8Array, from: number) => number;
  /** Empty values and NULL are left out. The bytes are valid during the call. */
  onPiece: (piece: FieldPiece) => void;
}

export interface FieldScanner {
  push(chunk: Uint8Array): void;
}

export const PIECE_BYTES = 1024 * 1024;
const TAB = 9;
const LINE_FEED = 10;
const PERCENT = 37;
const AMPERSAND = 38;
const BACKSLASH = 92;
const DOT = 46;
const LETTER_N = 78;

interface Span {
  from: number;
  to: number;
}

/** Reads the values of stored rows, as fast as their bytes can be looked at. */
export function createFieldScanner(options: FieldScannerOptions): FieldScanner {
  return options.format === 'copied' ? copiedFields(options) : insertedFields(options);
}

/** Ends a field, begins an escape, is no ASCII or begins an encoding. */
const END = 1;
const ESCAPE = 2;
const OTHER = 4;
const KINDS = new Uint8Array(256).map((_, byte) => {
  if (byte === TAB || byte === LINE_FEED) return END;
  if (byte === BACKSLASH) return ESCAPE;
  return byte < 128 && byte !== PERCENT && byte !== AMPERSAND ? 0 : OTHER;
});

/** Reports whether the byte can be part of a plain value. */
export function isPlainByte(byte: number): boolean {
  return KINDS[byte] === 0;
}

const ESCAPES = new Uint8Array(256).map((_, code) => {
  const at = 'bfnrtv'.indexOf(String.fromCharCode(code));
  return at < 0 ? code : '\b\f\n\r\t\v'.charCodeAt(at);
});

function copiedFields({ isWanted, skip, onPiece }: FieldScannerOptions): FieldScanner {
  const scratch = new Uint8Array(PIECE_BYTES + 1);
  const piece: FieldPiece = { column: 0, bytes: scratch, from: 0, to: 0, isFirst: true, isLast: true, isPlain: true };
  /** The beginning of a value whose end is in the next chunk. */
  let carry = new Uint8Array(64 * 1024);
  let carried = 0;
  let column = 0;
  let isFirst = true;
  /** Union of the kinds of the bytes of the value. */
  let kinds = 0;

  function deliver(bytes: Uint8Array, { from, to }: Span, isLast: boolean): void {
    if (from === to && isFirst) return;
    piece.column = column;
    piece.isFirst = isFirst;
    piece.isLast = isLast;
    piece.isPlain = kinds === 0;
    piece.bytes = bytes;
    piece.from = from;
    piece.to = to;
    if ((kinds & ESCAPE) === 0) {
      onPiece(piece);
      isFirst = false;
      return;
    }
    const isCode = to - from === 2 && bytes[from] === BACKSLASH && isFirst && isLast;
    if (isCode && (bytes[from + 1] === LETTER_N || (bytes[from + 1] === DOT && column === 0))) return;
    piece.bytes = scratch;
    piece.from = 0;
    piece.to = unescapeInto(scratch, bytes, { from, to });
    onPiece(piece);
    isFirst = false;
  }

  /** Long values go in pieces; an escape is not divided. */
  function deliverLong(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    while (to - at > PIECE_BYTES) {
      const end = wholeEscapes(bytes, at, at + PIECE_BYTES);
      deliver(bytes, { from: at, to: end }, false);
      at = end;
    }
    deliver(bytes, { from: at, to }, true);
  }

  function keep(bytes: Uint8Array, from: number, to: number): void {
    const needed = carried + to - from;
    if (needed > carry.length) {
      const larger = new Uint8Array(Math.max(needed, carry.length * 2));
      larger.set(carry.subarray(0, carried));
      carry = larger;
    }
    carry.set(bytes.subarray(from, to), carried);
    carried = needed;
    while (carried > PIECE_BYTES) {
      const end = wholeEscapes(carry, 0, PIECE_BYTES);
      deliver(carry, { from: 0, to: end }, false);
      carry.copyWithin(0, end, carried);
      carried -= end;
    }
  }

  return {
    push(chunk) {
      const size = chunk.length;
      let at = 0;
      while (at < size) {
        const wanted = isWanted(column);
        const skipped = wanted && skip && isFirst && carried === 0 ? skip(column, chunk, at) : -1;
        if (skipped >= 0) {
          column = chunk[skipped] === TAB ? column + 1 : 0;
          at = skipped + 1;
          continue;
        }
        let end = at;
        let seen = kinds;
        for (; end < size; end += 1) {
          const kind = KINDS[chunk[end] as number] as number;
          if (kind === END) break;
          seen |= kind;
        }
        kinds = seen;
        if (end === size) {
          if (wanted) keep(chunk, at, size);
          return;
        }
        if (wanted && (carried > 0 || !isFirst || end > at)) {
          if (carried > 0 || !isFirst) {
            keep(chunk, at, end);
            deliver(carry, { from: 0, to: carried }, true);
            carried = 0;
          } else if (end - at <= PIECE_BYTES) deliver(chunk, { from: at, to: end }, true);
          else deliverLong(chunk, at, end);
        }
        isFirst = true;
        kinds = 0;
        column = chunk[end] === TAB ? column + 1 : 0;
        at = end + 1;
      }
    },
  };
}

/** The end before an escape that would be divided there. */
function wholeEscapes(bytes: Uint8Array, from: number, to: number): number {
  let before = to;
  while (before > from && bytes[before - 1] === BACKSLASH) before -= 1;
  return (to - before) % 2 === 0 ? to : to - 1;
}

function unescapeInto(into: Uint8Array, bytes: Uint8Array, { from, to }: Span): number {
  let length = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte === BACKSLASH && at + 1 < to) {
      at += 1;
      into[length] = ESCAPES[bytes[at] as number] as number;
    } else into[length] = byte;
    length += 1;
  }
  return length;
}

const WHOLE = { isFirst: true, isLast: true, isPlain: false };

/** Rows of the vendor's program, which are rare: of a long value the first piece. */
function insertedFields({ isWanted, onPiece }: FieldScannerOptions): FieldScanner {
  return createRowScanner({
    ...{ format: 'inserted', mostBytes: PIECE_BYTES, emptyEnd: false },
    onRow({ values }) {
      for (const [column, value] of values.entries()) {
        if (!value || value.length === 0 || !isWanted(column)) continue;
        onPiece({ column, bytes: value.bytes, from: 0, to: value.bytes.length, ...WHOLE });
      }
      return true;
    },
  });
}
