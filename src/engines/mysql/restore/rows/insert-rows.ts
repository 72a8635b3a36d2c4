import type { MysqlSession } from '../../connection/session.ts';
import { insertHead, packetLimit, StatementTooLong } from './packet-limit.ts';

export interface InsertOptions {
  table: string;
  columns: string[];
  /** Columns that take text and no bytes. */
  texts: string[];
  content: AsyncIterable<Uint8Array>;
  /** Bytes of the longest row, where they are known. */
  longest_row?: number;
  /** The session is in a transaction, which ends elsewhere. */
  inTransaction?: boolean;
}

export interface InsertResult {
  loaded: number;
  warnings: WarningRow[];
}

export interface WarningRow {
  Code: number;
  Message: string;
}

export function warningsOf(session: MysqlSession): Promise<WarningRow[]> {
  return session.query<WarningRow>('SHOW WARNINGS');
}

const STATEMENT_BYTES = 256 * 1024;

/** Rows as INSERT, for servers that take no LOAD DATA LOCAL; one transaction a table. No row is held in memory. */
export async function insertRows(session: MysqlSession, { content, inTransaction = false, ...options }: InsertOptions) {
  const limit = await packetLimit(session);
  const statementBytes = Math.min(STATEMENT_BYTES, Math.floor(limit / 4));
  const pieces = rowStatements(content, { ...options, statementBytes });
  if (!inTransaction) await session.execute('START TRANSACTION');
  const inserted = await sendStatements(session, pieces, options.table);
  if (!inTransaction) await session.execute('COMMIT');
  return inserted;
}

export async function sendStatements(session: MysqlSession, pieces: AsyncGenerator<StatementPiece>, table: string) {
  const limit = await packetLimit(session);
  const warnings: WarningRow[] = [];
  let loaded = 0;
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    const executed = await session.send(statementFrom(next.value, { pieces, limit, table }));
    loaded += executed.rows;
    if (executed.warnings === 0) continue;
    const read = await warningsOf(session);
    warnings.push(...read);
    // The server lists `max_error_count` of them.
    if (read.length < executed.warnings) warnings.push({ Code: 0, Message: 'Further warnings could not be read' });
  }
  return { loaded, warnings };
}

interface Statement extends Pick<InsertOptions, 'table'> {
  pieces: AsyncGenerator<StatementPiece>;
  limit: number;
}

/** The pieces of one statement. One that the server would not take is not sent to its end. */
async function* statementFrom(first: StatementPiece, { pieces, limit, table }: Statement): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (let piece = first; ; ) {
    bytes += piece.bytes.length;
    if (bytes >= limit) throw new StatementTooLong();
    yield piece.bytes;
    if (piece.last) return;
    const next = await pieces.next();
    if (next.done) throw new Error(`the rows of ${table} end in the middle of one`);
    piece = next.value;
  }
}

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

interface RowStatementsOptions extends Pick<InsertOptions, 'table' | 'columns' | 'texts'> {
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
  const writer = new RowWriter(options);
  for await (const block of content) {
    for (let from = 0; from < block.length; ) {
      const step = writer.take(block, from);
      from = step.next;
      yield* step.pieces;
    }
  }
  yield* writer.end();
}

/** Writes rows as statements into one of two buffers, while the caller has the other. */
class RowWriter {
  readonly #table: string;
  readonly #head: Buffer;
  readonly #asText: boolean[];
  readonly #statementBytes: number;
  readonly #room: number;
  #output: Buffer;
  #other: Buffer;
  #filled = 0;
  /** Offset of the current row, with the comma before it; -1 when pieces of it have been returned. */
  #rowStart = 0;
  #field = 0;
  #inRow = false;
  #inLiteral = false;
  #escaped = false;
  #isNull = false;

  constructor({ table, columns, texts, statementBytes }: RowStatementsOptions) {
    this.#table = table;
    this.#head = insertHead({ table, columns });
    this.#asText = columns.map((column) => texts.includes(column));
    this.#statementBytes = statementBytes;
    this.#room = this.#head.length + 2 * statementBytes;
    this.#output = Buffer.allocUnsafeSlow(this.#room + SLACK);
    this.#other = Buffer.allocUnsafeSlow(this.#room + SLACK);
  }

  /** Takes bytes until a statement is full, or the block ends; returns the offset of the next one. */
  take(block: Uint8Array, from: number): { next: number; pieces: StatementPiece[] } {
    for (let at = from; at < block.length; at += 1) {
      const byte = block[at] as number;
      if (!this.#inRow) this.#beginRow();
      if (this.#escaped) {
        this.#escaped = false;
        if (!this.#inLiteral && byte === LETTER_N) {
          this.#write('NULL');
          this.#isNull = true;
        } else {
          this.#openLiteral();
          this.#output[this.#filled++] = BACKSLASH;
          this.#output[this.#filled++] = byte;
        }
      } else if (byte === BACKSLASH) {
        this.#escaped = true;
      } else if (byte === TAB) {
        this.#endField();
        this.#field += 1;
        this.#output[this.#filled++] = COMMA;
      } else if (byte === LINE_FEED) {
        this.#endField();
        this.#inRow = false;
        this.#output[this.#filled++] = CLOSING;
        if (this.#rowStart === -1 || this.#filled >= this.#head.length + this.#statementBytes) {
          this.#rowStart = 0;
          return { next: at + 1, pieces: [this.#flush(this.#filled, true)] };
        }
      } else {
        this.#openLiteral();
        if (byte === QUOTE) this.#output[this.#filled++] = QUOTE;
        this.#output[this.#filled++] = byte;
      }
      if (this.#filled >= this.#room) return { next: at + 1, pieces: [this.#spill()] };
    }
    return { next: block.length, pieces: [] };
  }

  /** Returns the remaining rows. Throws when the last row has no end, since no such row was stored. */
  *end(): Generator<StatementPiece> {
    if (this.#inRow) throw new Error(`the rows of ${this.#table} end in the middle of one`);
    if (this.#filled > this.#head.length) yield this.#flush(this.#filled, true);
  }

  #beginRow(): void {
    if (this.#filled === 0) this.#filled = this.#head.copy(this.#output);
    this.#rowStart = this.#filled;
    this.#write(this.#filled > this.#head.length ? ',(' : '(');
    this.#inRow = true;
    this.#field = 0;
  }

  #write(text: string): void {
    this.#filled += this.#output.write(text, this.#filled, 'latin1');
  }

  #openLiteral(): void {
    if (this.#inLiteral) return;
    if (this.#isNull) throw new Error(`a NULL of ${this.#table} has bytes after it`);
    this.#write(this.#asText[this.#field] ? "CONVERT(_binary'" : "_binary'");
    this.#inLiteral = true;
  }

  #endField(): void {
    if (!this.#isNull) {
      this.#openLiteral();
      this.#write(this.#asText[this.#field] ? "' USING utf8mb4)" : "'");
    }
    this.#inLiteral = false;
    this.#isNull = false;
  }

  /** Hands over what is written; the other buffer is free by now. */
  #flush(bytes: number, last: boolean): StatementPiece {
    const piece = { bytes: this.#output.subarray(0, bytes), last };
    [this.#output, this.#other] = [this.#other, this.#output];
    this.#filled = 0;
    return piece;
  }

  /** Makes room in the middle of a row: the rows before it go as a statement of their own, else a piece of it goes. */
  #spill(): StatementPiece {
    if (this.#rowStart <= this.#head.length) {
      this.#rowStart = -1;
      return this.#flush(this.#filled, false);
    }
    const row = this.#output.subarray(this.#rowStart + 1, this.#filled);
    const piece = this.#flush(this.#rowStart, true);
    this.#filled = this.#head.copy(this.#output);
    this.#output.set(row, this.#filled);
    this.#filled += row.length;
    this.#rowStart = this.#head.length;
    return piece;
  }
}
