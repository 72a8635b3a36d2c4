/** Classes of values: one telling value is a finding, the others need a share (`judge-column.ts`). */
export const NUMBER = 0;
/** The value is common to many columns: a trait, a place, an amount. */
export const WORD = 1;
/** A name or a login. */
export const NAME = 2;
/** Chance makes some of them again. */
export const RARE = 3;
export const TELLING = 4;

/** An entry has a class and the number of a column. */
export const CLASS_BITS = 3;
export const CLASS_MASK = 2 ** CLASS_BITS - 1;
/** The others have no number. */
export const MOST_COLUMNS = 2 ** (16 - CLASS_BITS);

/** Values with more words are searched inside of other texts by their first words. */
export const MOST_WORDS = 31;

/** Filters of the first words and of the values: most of both are in a cache of the processor. */
const WORD_BITS = 2 ** 22;
const VALUE_BITS = 2 ** 25;
/** Lengths of values and of their first words, with digits, letters, or both. */
const LONGEST_SHAPE = 1023;
const SHAPES = 4 * (LONGEST_SHAPE + 1);
/** The number of values, the filters and the shapes. */
const HEAD = 8 + WORD_BITS / 8 + VALUE_BITS / 8 + 2 * SHAPES;
const MASKS = 2 ** 21;
const LEAST_SLOTS = 2 ** 12;
/** 168 MB; further values are searched in further rounds. */
const MOST_SLOTS = 2 ** 24;
const FULL = 0.85;
const EXPECTED_FILL = 0.55;

export interface TableMemory {
  buffer: SharedArrayBuffer;
  slots: number;
}

/** The rounds that this many values need, and the memory of one round. */
export function planRounds(values: number): { rounds: number; slots: number } {
  const rounds = Math.max(1, Math.ceil(values / (MOST_SLOTS * EXPECTED_FILL)));
  const wanted = 2 ** Math.ceil(Math.log2(values / rounds / EXPECTED_FILL + 1));
  return { rounds, slots: Math.min(MOST_SLOTS, Math.max(LEAST_SLOTS, wanted)) };
}

export function allocateTable(slots: number): TableMemory {
  return { buffer: new SharedArrayBuffer(HEAD + MASKS * 4 + slots * 10), slots };
}

export interface BeginningOfValue {
  words: number;
  firstWord: number;
  firstDigits: number;
  firstLetters: number;
}

export interface ValueTable {
  /** `false` when there is no room. */
  insert(first: number, second: number, entry: { column: number; valueClass: number }): boolean;
  /** Notes the number of words of a value, and its first one. */
  noteWords(value: BeginningOfValue): void;
  /** `false`: no value of several words begins with a word of this length. */
  hasWordShape(length: number, some: number, every: number): boolean;
  /** Notes that a value has so many letters and digits. */
  noteShape(digits: number, letters: number): void;
  /** `false`: no value has this length. `some` and `every` are the unions of its digests in `PLAIN_FIRST`. */
  hasShape(length: number, some: number, every: number): boolean;
  /** `false`: no value has this first half of a digest. */
  mayHold(first: number): boolean;
  /** The entry of a value, `class | column << CLASS_BITS`; -1 where the value is unknown. */
  find(first: number, second: number): number;
  /** Bit `n - 1`: a value of `n` words may begin with this word. */
  wordsAfter(word: number): number;
}

/** Digests of 64 bits with the class and the column of each value. Threads share the memory; one of them inserts. */
export function openTable(
  { buffer, slots }: TableMemory,
  { round, rounds }: { round: number; rounds: number },
): ValueTable {
  const used = new Uint32Array(buffer, 0, 1);
  const wordBits = new Uint32Array(buffer, 8, WORD_BITS / 32);
  const valueBits = new Uint32Array(buffer, 8 + WORD_BITS / 8, VALUE_BITS / 32);
  const masks = new Uint32Array(buffer, HEAD, MASKS);
  const shapes = new Uint8Array(buffer, HEAD - 2 * SHAPES, SHAPES);
  const wordShapes = new Uint8Array(buffer, HEAD - SHAPES, SHAPES);
  /** Both halves of a digest are in one line of the cache. */
  const digests = new Int32Array(buffer, HEAD + MASKS * 4, 2 * slots);
  const entries = new Uint16Array(buffer, HEAD + MASKS * 4 + slots * 8, slots);
  const last = slots - 1;

  const isOther = (hash: number): boolean => rounds > 1 && (hash >>> 8) % rounds !== round;

  return {
    insert(first, second, { column, valueClass }) {
      const hash = mix(first, second);
      if (isOther(hash)) return true;
      const entry = valueClass | (column << CLASS_BITS);
      for (let at = hash & last; ; at = (at + 1) & last) {
        if (digests[2 * at] === 0 && digests[2 * at + 1] === 0) {
          if ((used[0] as number) > slots * FULL) return false;
          used[0] = (used[0] as number) + 1;
          digests[2 * at] = first;
          digests[2 * at + 1] = second;
          entries[at] = entry;
          const bit = (first >>> 5) & (VALUE_BITS / 32 - 1);
          valueBits[bit] = (valueBits[bit] as number) | (1 << (first & 31));
          return true;
        }
        if (digests[2 * at] === first && digests[2 * at + 1] === second) {
          if (((entries[at] as number) & CLASS_MASK) < valueClass) entries[at] = entry;
          return true;
        }
      }
    },
    noteWords({ words, firstWord: word, firstDigits, firstLetters }) {
      wordShapes[shapeOf(firstDigits, firstLetters)] = 1;
      const bit = (word >>> 5) & (WORD_BITS / 32 - 1);
      wordBits[bit] = (wordBits[bit] as number) | (1 << (word & 31));
      const at = (word ^ (word >>> 17)) & (MASKS - 1);
      masks[at] = (masks[at] as number) | (1 << (Math.min(words, MOST_WORDS) - 1));
    },
    noteShape(digits, letters) {
      shapes[shapeOf(digits, letters)] = 1;
    },
    hasShape: (length, some, every) => shapes[shapeOfDigests(length, some, every)] === 1,
    hasWordShape: (length, some, every) => wordShapes[shapeOfDigests(length, some, every)] === 1,
    find(first, second) {
      const hash = mix(first, second);
      if (isOther(hash)) return -1;
      for (let at = hash & last; ; at = (at + 1) & last) {
        if (digests[2 * at] === first && digests[2 * at + 1] === second) return entries[at] as number;
        if (digests[2 * at] === 0 && digests[2 * at + 1] === 0) return -1;
      }
    },
    mayHold: (first) => (((valueBits[(first >>> 5) & (VALUE_BITS / 32 - 1)] as number) >>> (first & 31)) & 1) === 1,
    wordsAfter(word) {
      const isKnown = (((wordBits[(word >>> 5) & (WORD_BITS / 32 - 1)] as number) >>> (word & 31)) & 1) === 1;
      return isKnown ? (masks[(word ^ (word >>> 17)) & (MASKS - 1)] as number) : 0;
    },
  };
}

function shapeOf(digits: number, letters: number): number {
  return 4 * Math.min(digits + letters, LONGEST_SHAPE) + (digits > 0 ? 1 : 0) + (letters > 0 ? 2 : 0);
}

/** The digests of letters in `PLAIN_FIRST` are negative. */
function shapeOfDigests(length: number, some: number, every: number): number {
  return 4 * Math.min(length, LONGEST_SHAPE) + ((~every >>> 31) | ((some >>> 30) & 2));
}

export function mix(first: number, second: number): number {
  let hash = Math.imul(first ^ (second >>> 15) ^ Math.imul(second, 0x27d4eb2d), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Bits of a column in which distinct values are counted. */
const DISTINCT_BITS = 2 ** 16;
const DISTINCT_BYTES = DISTINCT_BITS / 8;
const COUNTED_BY_BITS = 30_000;

/** One of so many distinct values is counted. */
export function scaleFor(values: number): number {
  return Math.max(1, Math.ceil(values / COUNTED_BY_BITS));
}

/** Distinct values of a column, approximately. */
export type DistinctBits = Uint8Array<ArrayBuffer>;

export function newDistinctBits(): DistinctBits {
  return new Uint8Array(DISTINCT_BYTES);
}

export function noteDistinct(bits: DistinctBits, hash: number, scale: number): void {
  if (scale > 1 && (hash >>> 16) % scale !== 0) return;
  const bit = hash & (DISTINCT_BITS - 1);
  bits[bit >>> 3] = (bits[bit >>> 3] as number) | (1 << (bit & 7));
}

export function countDistinct(bits: DistinctBits, others: DistinctBits = bits): number {
  let count = 0;
  for (let at = 0; at < DISTINCT_BYTES; at += 1) {
    for (let byte = (bits[at] as number) & (others[at] as number); byte > 0; byte &= byte - 1) count += 1;
  }
  return count;
}
