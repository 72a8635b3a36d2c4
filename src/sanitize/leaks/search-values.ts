import type { RowFormat } from '../../engines/shared/rows/row-scanner.ts';
import { createFieldReader } from './field-reader.ts';
import { createQuickCheck } from './quick-check.ts';
import { createFieldScanner, type FieldPiece, type FieldScanner } from './stored-fields.ts';
import {
  CLASS_BITS,
  CLASS_MASK,
  type DistinctBits,
  mix,
  newDistinctBits,
  noteDistinct,
  type ValueTable,
} from './value-table.ts';
import { digestFirst, digestSecond, squeeze } from './word-digest.ts';
import { createWordReader } from './word-reader.ts';

/** A value of the original in the result. */
export interface Hit {
  first: number;
  second: number;
  valueClass: number;
  /** Its letters and digits; `null` in a value that is too long to be in memory. */
  text: string | null;
  source: number;
}

export interface ColumnHits {
  /** Neither NULL nor empty. */
  values: number;
  /** Values by the strongest class of what is in them. */
  counts: [number: number, word: number, name: number, rare: number, telling: number];
  /** Values by the column of the original. */
  from: Map<number, number>;
  distinct: DistinctBits | null;
  hits: Hit[];
}

const MOST_HITS = 32;
const WHOLE = { start: 0, end: Number.POSITIVE_INFINITY };

export function noHits(): ColumnHits {
  return { values: 0, counts: [0, 0, 0, 0, 0], from: new Map(), distinct: null, hits: [] };
}

export interface SearchOptions {
  table: ValueTable;
  /** By position in the stored row; `null` where the answer is known. */
  columns: ({ scale: number } | null)[];
}

export interface Search {
  hits: ColumnHits[];
  rows(format: RowFormat): FieldScanner;
  /** A content of its own, as of a large object. */
  piece(piece: FieldPiece): void;
  text(text: string): void;
}

/** Searches every value of a table for values of the original: whole, in parts of documents, and within texts. */
export function createSearch({ table, columns }: SearchOptions): Search {
  const hits = columns.map(noHits);
  const reader = createWordReader({
    onWords: searchWords,
    onPart(first, second, { start, end }) {
      if (table.mayHold(first)) recordHit(first, second, { start, end });
    },
  });
  const field = createFieldReader(reader);
  const { words, value } = reader;
  let strongest = -1;
  let source = 0;
  let column = 0;
  /** Hits whose text is not yet known. */
  let places: (Omit<Hit, 'text'> & { start: number; end: number })[] = [];

  function recordHit(first: number, second: number, { start, end }: { start: number; end: number }): void {
    const entry = table.find(first, second);
    if (entry < 0) return;
    const valueClass = entry & CLASS_MASK;
    const found = hits[column];
    if (!found) return;
    if (valueClass > strongest) {
      strongest = valueClass;
      source = entry >>> CLASS_BITS;
    }
    found.distinct ??= newDistinctBits();
    noteDistinct(found.distinct, mix(first, second), columns[column]?.scale ?? 1);
    const ofClass = found.hits.filter((hit) => hit.valueClass === valueClass);
    if (ofClass.length + places.length >= MOST_HITS) return;
    if (ofClass.some((hit) => hit.first === first && hit.second === second)) return;
    places.push({ first, second, valueClass, source: entry >>> CLASS_BITS, start, end });
  }

  function searchWords(searchable: number, count: number): void {
    // One word is the whole value.
    if (count === 1) return;
    for (let at = 0; at < searchable; at += 1) {
      let lengths = table.wordsAfter(words.word[at] as number);
      while (lengths !== 0) {
        const length = 31 - Math.clz32(lengths & -lengths);
        lengths &= lengths - 1;
        const after = at + length + 1;
        if (after > count) break;
        const start = words.letters[at] as number;
        const end = words.letters[after] as number;
        const first = digestFirst(words.first[at] as number, words.first[after] as number, end - start);
        if (!table.mayHold(first)) continue;
        recordHit(first, digestSecond(words.second[at] as number, words.second[after] as number, end - start), {
          start,
          end,
        });
      }
    }
  }

  function endValue(piece: FieldPiece | null, text: string | null): void {
    const found = hits[column];
    if (!found) return;
    found.values += 1;
    if (value.words > 0 && table.mayHold(value.first)) recordHit(value.first, value.second, WHOLE);
    if (strongest < 0) return;
    found.counts[strongest] = (found.counts[strongest] ?? 0) + 1;
    found.from.set(source, (found.from.get(source) ?? 0) + 1);
    if (places.length > 0) {
      const whole = piece?.isFirst ? field.textOf(piece) : text;
      const squeezed = whole === null ? null : squeeze(whole);
      for (const { start, end, ...hit } of places) {
        if (!found.hits.some(({ first, second }) => first === hit.first && second === hit.second)) {
          found.hits.push({ ...hit, text: squeezed?.slice(start, end) ?? null });
        }
      }
    }
    places = [];
    strongest = -1;
  }

  const quick = createQuickCheck(table);

  function skip(at: number, bytes: Uint8Array, from: number): number {
    const end = quick.pass(bytes, from);
    const found = hits[at];
    if (found && end > from && !quick.isNull) found.values += 1;
    return end;
  }

  function onPiece(piece: FieldPiece): void {
    column = piece.column;
    if (field.read(piece)) endValue(piece, null);
  }

  return {
    hits,
    rows: (format) => createFieldScanner({ format, isWanted: (at) => (columns[at] ?? null) !== null, skip, onPiece }),
    piece: onPiece,
    text(text) {
      column = 0;
      endValue(null, field.readText(text));
    },
  };
}
