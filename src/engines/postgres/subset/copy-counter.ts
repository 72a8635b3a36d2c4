import type { Moved } from '../../copy-progress.ts';

/** TRUNCATE and COPY: what stands before the rows of a leaf. */
const HEAD_LINES = 2;

const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;
const DOT = 0x2e;

/**
 * Counts the rows in a script of copies as its chunks go by: for each leaf the lines before its rows, the rows, and the
 * line `\.` that ends them. A chunk ends anywhere. `take` hears of the leaf's place in the script.
 */
export function createCopyCounter(take: (leaf: number, moved: Moved) => void): (chunk: Uint8Array) => void {
  let leaf = 0;
  /** Whole lines of the leaf so far. */
  let lines = 0;
  /** Of the line that is not whole yet: its length, and whether it can still be the end of the rows. */
  let length = 0;
  let mark = true;

  return (chunk) => {
    let moved: Moved = { rows: 0, bytes: 0 };
    let start = 0;
    const see = (end: number): void => {
      for (let at = start; at < end && mark; at += 1) {
        const place = length + at - start;
        mark = place < 2 && chunk[at] === (place === 0 ? BACKSLASH : DOT);
      }
      length += end - start;
    };
    const tell = (): void => {
      if (moved.rows > 0) take(leaf, moved);
      moved = { rows: 0, bytes: 0 };
    };
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, start)) {
      see(at);
      if (mark && length === 2) {
        tell();
        leaf += 1;
        lines = 0;
      } else {
        if (lines >= HEAD_LINES) moved = { rows: moved.rows + 1, bytes: moved.bytes + length + 1 };
        lines += 1;
      }
      length = 0;
      mark = true;
      start = at + 1;
    }
    see(chunk.length);
    tell();
  };
}
