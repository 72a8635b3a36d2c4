import type { RowFormat } from '../../engines/shared/rows/row-scanner.ts';
import { createFieldReader, type FieldReader } from './field-reader.ts';
import { QuickCheck } from './quick-check.ts';
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
import { type ReadValue, type ReadWords, WordReader } from './word-reader.ts';

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

/** Letters and digits of the value. */
interface Place {
  start: number;
  end: number;
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

/** Searches every value of a table for values of the original: whole, in parts of documents, and within texts. */
export class Search {
  readonly hits: ColumnHits[];
  readonly #table: ValueTable;
  readonly #columns: SearchOptions['columns'];
  readonly #field: FieldReader;
  readonly #words: ReadWords;
  readonly #value: ReadValue;
  readonly #quick: QuickCheck;
  #strongest = -1;
  #source = 0;
  #column = 0;
  /** Hits whose text is not yet known. */
  #places: (Omit<Hit, 'text'> & Place)[] = [];

  constructor({ table, columns }: SearchOptions) {
    const reader = new WordReader({
      onWords: (searchable, count) => this.#searchWords(searchable, count),
      onPart: (first, second, { start, end }) => {
        if (table.mayHold(first)) this.#recordHit(first, second, { start, end });
      },
    });
    this.hits = columns.map(noHits);
    this.#table = table;
    this.#columns = columns;
    this.#field = createFieldReader(reader);
    this.#words = reader.words;
    this.#value = reader.value;
    this.#quick = new QuickCheck(table);
  }

  rows(format: RowFormat): FieldScanner {
    return createFieldScanner({
      format,
      isWanted: (at) => (this.#columns[at] ?? null) !== null,
      skip: (at, bytes, from) => this.#skip(at, bytes, from),
      onPiece: (piece) => this.piece(piece),
    });
  }

  /** A piece of a value, or of a content of its own, as of a large object. */
  piece(piece: FieldPiece): void {
    this.#column = piece.column;
    if (this.#field.read(piece)) this.#endValue(() => (piece.isFirst ? this.#field.textOf(piece) : null));
  }

  text(text: string): void {
    this.#column = 0;
    const read = this.#field.readText(text);
    this.#endValue(() => read);
  }

  #skip(at: number, bytes: Uint8Array, from: number): number {
    const end = this.#quick.pass(bytes, from);
    const found = this.hits[at];
    if (found && end > from && !this.#quick.isNull) found.values += 1;
    return end;
  }

  #recordHit(first: number, second: number, { start, end }: Place): void {
    const entry = this.#table.find(first, second);
    if (entry < 0) return;
    const valueClass = entry & CLASS_MASK;
    const found = this.hits[this.#column];
    if (!found) return;
    if (valueClass > this.#strongest) {
      this.#strongest = valueClass;
      this.#source = entry >>> CLASS_BITS;
    }
    found.distinct ??= newDistinctBits();
    noteDistinct(found.distinct, mix(first, second), this.#columns[this.#column]?.scale ?? 1);
    const ofClass = found.hits.filter((hit) => hit.valueClass === valueClass);
    if (ofClass.length + this.#places.length >= MOST_HITS) return;
    if (ofClass.some((hit) => hit.first === first && hit.second === second)) return;
    this.#places.push({ first, second, valueClass, source: entry >>> CLASS_BITS, start, end });
  }

  #searchWords(searchable: number, count: number): void {
    // One word is the whole value.
    if (count === 1) return;
    const table = this.#table;
    const words = this.#words;
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
        const second = digestSecond(words.second[at] as number, words.second[after] as number, end - start);
        this.#recordHit(first, second, { start, end });
      }
    }
  }

  #endValue(text: () => string | null): void {
    const found = this.hits[this.#column];
    if (!found) return;
    const value = this.#value;
    found.values += 1;
    if (value.words > 0 && this.#table.mayHold(value.first)) this.#recordHit(value.first, value.second, WHOLE);
    if (this.#strongest < 0) return;
    found.counts[this.#strongest] = (found.counts[this.#strongest] ?? 0) + 1;
    found.from.set(this.#source, (found.from.get(this.#source) ?? 0) + 1);
    if (this.#places.length > 0) {
      const whole = text();
      const squeezed = whole === null ? null : squeeze(whole);
      for (const { start, end, ...hit } of this.#places) {
        if (!found.hits.some(({ first, second }) => first === hit.first && second === hit.second)) {
          found.hits.push({ ...hit, text: squeezed?.slice(start, end) ?? null });
        }
      }
    }
    this.#places = [];
    this.#strongest = -1;
  }
}
