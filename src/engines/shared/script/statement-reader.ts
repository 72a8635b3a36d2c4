import { isBlank } from './script-bytes.ts';
import { ScriptProblem } from './script-problem.ts';
import { MOST_STATEMENT, type ScriptPart, type ScriptSplitter, tooLong } from './split-script.ts';
import { createTextWindow, type ScriptPosition } from './text-window.ts';

/** Bytes; longer than any name or tag of a server. */
export const MOST_WORD = 64 * 1024;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The part of a splitter that is the same for every engine: the bytes at hand, and the statement that is being read. */
export abstract class StatementReader implements ScriptSplitter {
  protected readonly text = createTextWindow();
  /** Bytes of `text`, and the offset of the next token. */
  protected bytes = this.text.bytes;
  protected at = 0;
  protected begin: { at: number; position: ScriptPosition } | null = null;
  protected number = 0;
  /** Words of the statement, in upper case. */
  protected words: string[] = [];
  protected parts: ScriptPart[] = [];
  #isFirst = true;

  /** Consumes the next token; `false` when more bytes are needed. */
  protected abstract takeNext(isEnd: boolean): boolean;
  /** Called after a chunk was added at the end, and bytes at the beginning were dropped: remembered offsets move. */
  protected abstract appended(chunk: Uint8Array, dropped: number): void;
  /** Ends the last statement. Throws for an open quote or comment. */
  protected abstract finish(): void;

  push(chunk: Uint8Array): ScriptPart[] {
    const from = this.begin?.at ?? this.at;
    this.text.append(chunk, from);
    this.bytes = this.text.bytes;
    this.at -= from;
    if (this.begin) this.begin.at -= from;
    this.appended(chunk, from);
    // A comment or blanks before a statement are kept until their end, too.
    if (this.bytes.length > MOST_STATEMENT) throw tooLong(this.begin?.position ?? this.text.position(this.at));
    return this.#takeAll(false);
  }

  end(): ScriptPart[] {
    const last = this.#takeAll(true);
    this.finish();
    return last;
  }

  protected refuse(offset: number, message: string, hint: string): never {
    throw new ScriptProblem(message, { position: this.text.position(offset), hint });
  }

  protected assertNotReservedWord(): never {
    return this.refuse(this.at, 'a word of more than 64 kB', 'Is this an SQL file?');
  }

  protected beginAt(offset: number): void {
    this.begin ??= { at: offset, position: this.text.position(offset) };
  }

  /** The bytes from the beginning of the statement, without blanks at the end. */
  protected statementBytes(begin: number, end: number): Buffer {
    let last = end;
    while (last > begin && isBlank(this.bytes[last - 1] ?? 0)) last -= 1;
    return Buffer.from(this.bytes.subarray(begin, last));
  }

  #takeAll(isEnd: boolean): ScriptPart[] {
    this.parts = [];
    if (this.#isFirst) {
      if (this.bytes.length < BYTE_ORDER_MARK.length && !isEnd) return this.parts;
      this.#isFirst = false;
      const head = this.bytes.subarray(0, BYTE_ORDER_MARK.length);
      if (head.equals(BYTE_ORDER_MARK)) this.at = BYTE_ORDER_MARK.length;
    }
    while (this.at < this.bytes.length) {
      if (!this.takeNext(isEnd)) break;
    }
    return this.parts;
  }
}
