import type { LongRowTaker } from './long-rows.ts';
import {
  BACKSLASH,
  headBytes,
  LETTER_N,
  LINE_FEED,
  mostBytesOf,
  NULL_FIELD,
  type RowPacket,
  TAB,
  writeBytes,
  writeRow,
} from './row-text.ts';

/** Room for what stands between two bytes of values: a tab and a NULL, or a byte with its backslash, and the end. */
const MOST_BETWEEN = 4;

/** Writes rows as text into blocks. A long row, which may be a gigabyte, goes on in the next block. */
export class RowBlocks implements LongRowTaker {
  /** Bytes of the longest row, as text. */
  longest = 0;
  #block: Buffer;
  readonly #onBlock: (text: Buffer) => Buffer;
  #filled = 0;
  /** Bytes in earlier blocks. */
  #before = 0;
  /** Of a long row that is arriving: its offset in all text, and missing bytes of a value and of the value's length. */
  #rowStart: number | null = null;
  #ofValue = 0;
  #ofLength = 0;
  #scale = 1;

  /** `onBlock` takes the text of a block, and returns the block to go on with. */
  constructor(block: Buffer, onBlock: (text: Buffer) => Buffer) {
    this.#block = block;
    this.#onBlock = onBlock;
  }

  take(row: RowPacket): void {
    const most = mostBytesOf(row.end - row.offset);
    if (most > this.#block.length) {
      this.takePart(row.buffer.subarray(row.offset, row.end));
      this.endRow();
      return;
    }
    this.#makeRoom(most);
    const start = this.#filled;
    this.#filled = writeRow(row, this.#block, start);
    this.longest = Math.max(this.longest, this.#filled - start);
  }

  takePart(part: Uint8Array): void {
    for (let from = 0; from < part.length; ) {
      this.#makeRoom(MOST_BETWEEN);
      if (this.#ofLength > 0) {
        this.#ofValue += (part[from] as number) * this.#scale;
        this.#scale *= 256;
        this.#ofLength -= 1;
        from += 1;
      } else if (this.#ofValue > 0) {
        const room = Math.floor((this.#block.length - this.#filled) / 2);
        const end = Math.min(part.length, from + this.#ofValue, from + room);
        this.#filled = writeBytes({ buffer: part, offset: from, end }, this.#block, this.#filled);
        this.#ofValue -= end - from;
        from = end;
      } else {
        this.#beginValue(part[from] as number);
        from += 1;
      }
    }
  }

  endRow(): void {
    this.#makeRoom(MOST_BETWEEN);
    this.#block[this.#filled++] = LINE_FEED;
    this.longest = Math.max(this.longest, this.#before + this.#filled - (this.#rowStart ?? 0));
    this.#rowStart = null;
  }

  append(text: string): void {
    this.#makeRoom(text.length);
    this.#filled += this.#block.write(text, this.#filled, 'latin1');
  }

  /** The text in the current block. */
  get rest(): Buffer {
    return this.#block.subarray(0, this.#filled);
  }

  flush(): void {
    if (this.#filled === 0) return;
    this.#before += this.#filled;
    this.#block = this.#onBlock(this.rest);
    this.#filled = 0;
  }

  #makeRoom(bytes: number): void {
    if (this.#block.length - this.#filled < bytes) this.flush();
  }

  #beginValue(first: number): void {
    if (this.#rowStart === null) this.#rowStart = this.#before + this.#filled;
    else this.#block[this.#filled++] = TAB;
    if (first === NULL_FIELD) {
      this.#block[this.#filled++] = BACKSLASH;
      this.#block[this.#filled++] = LETTER_N;
      return;
    }
    this.#ofLength = headBytes(first) - 1;
    this.#ofValue = this.#ofLength === 0 ? first : 0;
    this.#scale = 1;
  }
}
