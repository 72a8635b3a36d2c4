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
  return options.format === 'copied' ? new CopiedFields(options) : insertedFields(options);
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

class CopiedFields implements FieldScanner {
  readonly #isWanted: FieldScannerOptions['isWanted'];
  readonly #skip: FieldScannerOptions['skip'];
  readonly #onPiece: FieldScannerOptions['onPiece'];
  readonly #scratch = new Uint8Array(PIECE_BYTES + 1);
  readonly #piece: FieldPiece;
  /** The beginning of a value whose end is in the next chunk. */
  #carry = new Uint8Array(64 * 1024);
  #carried = 0;
  #column = 0;
  #isFirst = true;
  /** Union of the kinds of the bytes of the value. */
  #kinds = 0;

  constructor({ isWanted, skip, onPiece }: FieldScannerOptions) {
    this.#isWanted = isWanted;
    this.#skip = skip;
    this.#onPiece = onPiece;
    this.#piece = { column: 0, bytes: this.#scratch, from: 0, to: 0, isFirst: true, isLast: true, isPlain: true };
  }

  push(chunk: Uint8Array): void {
    const size = chunk.length;
    let at = 0;
    while (at < size) {
      const wanted = this.#isWanted(this.#column);
      const skipped = wanted && this.#skip && !this.#isInside() ? this.#skip(this.#column, chunk, at) : -1;
      if (skipped >= 0) {
        this.#column = chunk[skipped] === TAB ? this.#column + 1 : 0;
        at = skipped + 1;
        continue;
      }
      let end = at;
      let seen = this.#kinds;
      for (; end < size; end += 1) {
        const kind = KINDS[chunk[end] as number] as number;
        if (kind === END) break;
        seen |= kind;
      }
      this.#kinds = seen;
      if (end === size) {
        if (wanted) this.#keep(chunk, at, size);
        return;
      }
      if (wanted) this.#deliverEnd(chunk, at, end);
      this.#isFirst = true;
      this.#kinds = 0;
      this.#column = chunk[end] === TAB ? this.#column + 1 : 0;
      at = end + 1;
    }
  }

  /** The beginning of the value was in the chunk before. */
  #isInside(): boolean {
    return this.#carried > 0 || !this.#isFirst;
  }

  #deliverEnd(chunk: Uint8Array, from: number, to: number): void {
    if (this.#isInside() || to - from > PIECE_BYTES) {
      this.#keep(chunk, from, to);
      this.#deliver(this.#carry, { from: 0, to: this.#carried }, true);
      this.#carried = 0;
    } else this.#deliver(chunk, { from, to }, true);
  }

  #deliver(bytes: Uint8Array, { from, to }: Span, isLast: boolean): void {
    if (from === to && this.#isFirst) return;
    const piece = this.#piece;
    piece.column = this.#column;
    piece.isFirst = this.#isFirst;
    piece.isLast = isLast;
    piece.isPlain = this.#kinds === 0;
    piece.bytes = bytes;
    piece.from = from;
    piece.to = to;
    if ((this.#kinds & ESCAPE) === 0) {
      this.#onPiece(piece);
      this.#isFirst = false;
      return;
    }
    const isCode = to - from === 2 && bytes[from] === BACKSLASH && this.#isFirst && isLast;
    if (isCode && (bytes[from + 1] === LETTER_N || (bytes[from + 1] === DOT && this.#column === 0))) return;
    piece.bytes = this.#scratch;
    piece.from = 0;
    piece.to = unescapeInto(this.#scratch, bytes, { from, to });
    this.#onPiece(piece);
    this.#isFirst = false;
  }

  /** Long values go in pieces; an escape is not divided. */
  #keep(bytes: Uint8Array, from: number, to: number): void {
    const needed = this.#carried + to - from;
    if (needed > this.#carry.length) {
      const larger = new Uint8Array(Math.max(needed, this.#carry.length * 2));
      larger.set(this.#carry.subarray(0, this.#carried));
      this.#carry = larger;
    }
    this.#carry.set(bytes.subarray(from, to), this.#carried);
    let at = 0;
    while (needed - at > PIECE_BYTES) {
      const end = wholeEscapes(this.#carry, at, at + PIECE_BYTES);
      this.#deliver(this.#carry, { from: at, to: end }, false);
      at = end;
    }
    if (at > 0) this.#carry.copyWithin(0, at, needed);
    this.#carried = needed - at;
  }
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
