import { createFieldScanner, type FieldScanner, type FieldScannerOptions } from '../leaks/stored-fields.ts';
import type { MarkSearch } from './canary-marks.ts';
import { findReformatted } from './reformatted-marks.ts';

/** A part of a mark, or one in another encoding: its column is not known. */
const UNKNOWN_MARK = -1;

/** Numbers of marks by their ids. */
export type MarkHits = Map<number, number>;

export interface MarkFinder {
  /** Searches bytes; `isFirst`: they do not continue the last ones. */
  feed(bytes: Buffer, isFirst: boolean): void;
  hits(): MarkHits;
}

/** Bytes before a piece that a mark may begin in. */
const TAIL_BYTES = 64;

export function createMarkFinder(wanted: MarkSearch): MarkFinder {
  const { forms, tokens, encoded } = wanted;
  const found: MarkHits = new Map();
  const bare: MarkHits = new Map();
  let others = 0;
  let tail = '';
  const add = (id: number, hits = found): void => void hits.set(id, (hits.get(id) ?? 0) + 1);

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
    const unbroken = text.includes('\n') || text.includes('\\n') ? text.replaceAll(LINE_ENDS, '') : text;
    for (const { text: part, exact } of encoded) {
      const at = (exact ? unbroken : lower).indexOf(part);
      if (at >= 0 && (unbroken !== text || at + part.length > from)) add(UNKNOWN_MARK);
    }
    const reformatted = findReformatted(lower, wanted);
    for (const { id, end } of reformatted.found) if (end > from) add(id);
    for (const { id, end } of reformatted.bare) {
      if (end <= from) continue;
      if (id === undefined) others += 1;
      else add(id, bare);
    }
  }

  return {
    hits() {
      // Numbers that no person has are among them: they are ids, not dates.
      const isOfDates = others === 0;
      return isOfDates ? merged(found, bare) : found;
    },
    feed(bytes, isFirst) {
      const before = isFirst ? '' : tail;
      const text = before + bytes.toString('latin1');
      search(text, before.length);
      tail = text.slice(-TAIL_BYTES);
    },
  };
}

/** Base64 has them, and a document has escaped ones. */
const LINE_ENDS = /(?:\\[rn]|[\r\n])+/g;

function merged(first: MarkHits, second: MarkHits): MarkHits {
  const all = new Map(first);
  for (const [id, count] of second) all.set(id, count + (all.get(id) ?? 0));
  return all;
}

interface MarkedRows extends Pick<FieldScannerOptions, 'format'> {
  search: MarkSearch;
  columns: number;
}

/** Searches stored rows by column; `hits` after all rows are pushed. */
export function createMarkScanner({ format, search, columns }: MarkedRows): {
  scanner(): FieldScanner;
  hits(): MarkHits[];
} {
  const finders = Array.from({ length: columns }, () => createMarkFinder(search));
  return {
    hits: () => finders.map(({ hits }) => hits()),
    scanner: () =>
      createFieldScanner({
        format,
        isWanted: () => true,
        onPiece: ({ column, bytes, from, to, isFirst }) =>
          finders[column]?.feed(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from), isFirst),
      }),
  };
}
