import { createFieldScanner, type FieldScanner, type FieldScannerOptions } from '../leaks/stored-fields.ts';
import type { MarkSearch } from './canary-marks.ts';

/** A part of a mark, or one in another encoding: its column is not known. */
const UNKNOWN_MARK = -1;

/** Numbers of marks by their ids. */
export type MarkHits = Map<number, number>;

export interface MarkFinder {
  /** Searches bytes; `isFirst`: they do not continue the last ones. */
  feed(bytes: Buffer, isFirst: boolean): void;
  hits: MarkHits;
}

/** Bytes before a piece that a mark may begin in. */
const TAIL_BYTES = 64;

export function createMarkFinder({ forms, tokens, encoded }: MarkSearch): MarkFinder {
  const hits: MarkHits = new Map();
  let tail = '';
  const add = (id: number): void => void hits.set(id, (hits.get(id) ?? 0) + 1);

  function search(text: string, from: number): void {
    const lower = text.toLowerCase();
    for (const { prefix, length, isUnique } of forms) {
      for (let at = lower.indexOf(prefix); at >= 0; at = lower.indexOf(prefix, at + 1)) {
        if (at + length <= from) continue;
        const id = tokens.get(lower.slice(at, at + length));
        if (id !== undefined) add(id);
        else if (isUnique) add(UNKNOWN_MARK);
      }
    }
    for (const { text: part, exact } of encoded) {
      const at = (exact ? text : lower).indexOf(part);
      if (at >= 0 && at + part.length > from) add(UNKNOWN_MARK);
    }
  }

  return {
    hits,
    feed(bytes, isFirst) {
      const before = isFirst ? '' : tail;
      const text = before + bytes.toString('latin1');
      search(text, before.length);
      tail = text.slice(-TAIL_BYTES);
    },
  };
}

interface MarkedRows extends Pick<FieldScannerOptions, 'format'> {
  search: MarkSearch;
  columns: number;
}

/** Searches stored rows by column; `hits` are filled while rows are pushed. */
export function createMarkScanner({ format, search, columns }: MarkedRows): {
  scanner(): FieldScanner;
  hits: MarkHits[];
} {
  const finders = Array.from({ length: columns }, () => createMarkFinder(search));
  return {
    hits: finders.map(({ hits }) => hits),
    scanner: () =>
      createFieldScanner({
        format,
        isWanted: () => true,
        onPiece: ({ column, bytes, from, to, isFirst }) =>
          finders[column]?.feed(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from), isFirst),
      }),
  };
}
