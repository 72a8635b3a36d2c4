import { BACKSLASH, isBlank, LINE_FEED } from '../../../shared/script/script-bytes.ts';
import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import type { ScriptRows } from '../../../shared/script/split-script.ts';
import type { ScriptPosition } from '../../../shared/script/text-window.ts';

export interface CopyRowsRequest {
  bytes: Buffer;
  /** Offset of the first byte that was not read. */
  at: number;
  /** No bytes follow. */
  isEnd: boolean;
}

export interface CopyRowsResult {
  at: number;
  parts: ScriptRows[];
  /** The rows have ended; otherwise more bytes are needed. */
  isEnd: boolean;
  /** Offset of text on the line of the COPY, which is an error. */
  textAt: number | null;
}

/** Reads the rows behind a `COPY … FROM STDIN`, up to the line `\\.`. */
export class CopyRows {
  readonly #position: ScriptPosition;
  #isHead = true;
  #atLineStart = true;

  /** Takes the position of the COPY, for errors. */
  constructor(position: ScriptPosition) {
    this.#position = position;
  }

  take({ bytes, at: from, isEnd }: CopyRowsRequest): CopyRowsResult {
    let at = from;
    if (this.#isHead) {
      while (at < bytes.length && isBlank(bytes[at] ?? 0) && bytes[at] !== LINE_FEED) at += 1;
      if (at >= bytes.length && !isEnd) return { at: from, parts: [], isEnd: false, textAt: null };
      if (at < bytes.length && bytes[at] !== LINE_FEED) return { at, parts: [], isEnd: false, textAt: at };
      at = Math.min(bytes.length, at + 1);
      this.#isHead = false;
    }
    return { ...this.#takeLines(bytes, { at, isEnd }), textAt: null };
  }

  #takeLines(bytes: Buffer, { at: from, isEnd }: { at: number; isEnd: boolean }): Omit<CopyRowsResult, 'textAt'> {
    let at = from;
    const partsTo = (to: number, isLast: boolean): ScriptRows[] =>
      to > from || isLast ? [{ kind: 'rows', bytes: Buffer.from(bytes.subarray(from, to)), isLast }] : [];
    while (at < bytes.length) {
      if (this.#atLineStart && bytes[at] === BACKSLASH) {
        const end = endOfRows(bytes.subarray(at, at + END_OF_ROWS), isEnd);
        if (end !== null) return { at: at + end, parts: partsTo(at, true), isEnd: true };
        if (bytes.length - at < END_OF_ROWS && !isEnd) return { at, parts: partsTo(at, false), isEnd: false };
      }
      const found = bytes.subarray(at).indexOf('\n\\');
      this.#atLineStart = found !== -1 || bytes.at(-1) === LINE_FEED;
      at = found === -1 ? bytes.length : at + found + 1;
    }
    if (!isEnd) return { at, parts: partsTo(at, false), isEnd: false };
    throw new ScriptProblem('COPY whose rows have no end: the file is cut short', {
      position: this.#position,
      hint: 'Write the file again: a line of \\. ends the rows.',
    });
  }
}

/** A line of `\.` with its end. */
const END_OF_ROWS = 4;

/** Length of the line that ends the rows at the beginning of these bytes; `null` when another one begins there. */
function endOfRows(bytes: Buffer, isEnd: boolean): number | null {
  const line = /^\\\.(\r?\n|\r?$)/.exec(bytes.toString('latin1'));
  if (!line) return null;
  return line[0].endsWith('\n') || isEnd ? line[0].length : null;
}
