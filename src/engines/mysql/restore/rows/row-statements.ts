import { insertHead } from './packet-limit.ts';

const TAB = 9;
const LINE_FEED = 10;
const QUOTE = 39;
const CLOSING = 41;
const COMMA = 44;
const BACKSLASH = 92;
const LETTER_N = 78;

/** A part of a statement; the bytes are gone when the next is asked for. */
export interface StatementPiece {
  bytes: Uint8Array;
  /** Ends its statement. */
  last: boolean;
}

export interface RowStatementsOptions {
  table: string;
  columns: string[];
  /** Columns that take text and no bytes. */
  texts: string[];
  /** Bytes of rows in a statement; a longer row has a statement of its own, in pieces. */
  statementBytes: number;
}

/** Most bytes that one byte of a row becomes, with the ends of its field and of its statement. */
const SLACK = 128;

/**
 * Rows in the format of `LOAD DATA` as INSERT statements, byte by byte. An escape means the same in both, so that a
 * backslash and the byte after it stay together: rows are input, and none of their bytes may end a literal.
 */
export async function* rowStatements(
  content: AsyncIterable<Uint8Array>,
  options: RowStatementsOptions,
): AsyncGenerator<StatementPiece> {
  const writer = createRowWriter(options);
  for await (const block of content) {
    for (let from = 0; from < block.length; ) {
      const step = writer.take(block, from);
      from = step.next;
      yield* step.pieces;
    }
  }
  yield* writer.end();
}

interface Step {
  /** Offset of the next byte to take. */
  next: number;
  pieces: StatementPiece[];
}

function createRowWriter({ table, columns, texts, statementBytes }: RowStatementsOptions) {
  const head = insertHead({ table, columns });
  const isText = new Set(texts);
  const asText = columns.map((column) => isText.has(column));
  const capacity = head.length + 2 * statementBytes + SLACK;
  const room = capacity - SLACK;
  let output = Buffer.allocUnsafeSlow(capacity);
  let other = Buffer.allocUnsafeSlow(capacity);
  let filled = 0;
  /** Offset of the current row, with the comma before it; -1 when pieces of it have been returned. */
  let rowStart = 0;
  let field = 0;
  let inRow = false;
  let inLiteral = false;
  let escaped = false;
  let isNull = false;

  const write = (text: string): void => {
    filled += output.write(text, filled, 'latin1');
  };
  const begin = (): void => {
    filled = head.copy(output);
  };
  const openLiteral = (): void => {
    if (inLiteral) return;
    if (isNull) throw new Error(`a NULL of ${table} has bytes after it`);
    write(asText[field] ? "CONVERT(_binary'" : "_binary'");
    inLiteral = true;
  };
  const endField = (): void => {
    if (!isNull) {
      openLiteral();
      write(asText[field] ? "' USING utf8mb4)" : "'");
    }
    inLiteral = false;
    isNull = false;
  };
  /** Hands over what is written; the other buffer is free by now. */
  const flush = (bytes: number, last: boolean): StatementPiece => {
    const piece = { bytes: output.subarray(0, bytes), last };
    [output, other] = [other, output];
    filled = 0;
    return piece;
  };

  /** Makes room in the middle of a row: the rows before it go as a statement of their own, else a piece of it goes. */
  const spill = (): StatementPiece => {
    if (rowStart <= head.length) {
      rowStart = -1;
      return flush(filled, false);
    }
    const row = output.subarray(rowStart + 1, filled);
    const piece = flush(rowStart, true);
    begin();
    output.set(row, filled);
    filled += row.length;
    rowStart = head.length;
    return piece;
  };

  /** Takes bytes until a statement is full, or the block ends. */
  function take(block: Uint8Array, from: number): Step {
    for (let at = from; at < block.length; at += 1) {
      const byte = block[at] as number;
      if (!inRow) {
        if (filled === 0) begin();
        rowStart = filled;
        write(filled > head.length ? ',(' : '(');
        inRow = true;
        field = 0;
      }
      if (escaped) {
        escaped = false;
        if (!inLiteral && byte === LETTER_N) {
          write('NULL');
          isNull = true;
        } else {
          openLiteral();
          output[filled++] = BACKSLASH;
          output[filled++] = byte;
        }
      } else if (byte === BACKSLASH) {
        escaped = true;
      } else if (byte === TAB) {
        endField();
        field += 1;
        output[filled++] = COMMA;
      } else if (byte === LINE_FEED) {
        endField();
        inRow = false;
        output[filled++] = CLOSING;
        if (rowStart === -1 || filled >= head.length + statementBytes) {
          rowStart = 0;
          return { next: at + 1, pieces: [flush(filled, true)] };
        }
      } else {
        openLiteral();
        if (byte === QUOTE) output[filled++] = QUOTE;
        output[filled++] = byte;
      }
      if (filled >= room) return { next: at + 1, pieces: [spill()] };
    }
    return { next: block.length, pieces: [] };
  }

  return {
    take,
    /** Returns the remaining rows. Throws when the last row has no end, since no such row was stored. */
    *end(): Generator<StatementPiece> {
      if (inRow) throw new Error(`the rows of ${table} end in the middle of one`);
      if (filled > head.length) yield flush(filled, true);
    },
  };
}
