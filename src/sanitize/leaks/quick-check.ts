import { STRUCTURES } from './field-reader.ts';
import { isPlainByte } from './stored-fields.ts';
import { MOST_WORDS, type ValueTable } from './value-table.ts';
import { BASE_FIRST, digestFirst, PLAIN_FIRST } from './word-digest.ts';

/** Further words are for the reader of words. */
const MOST_WORDS_CHECKED = 256;
const TAB = 9;
const LINE_FEED = 10;
const BACKSLASH = 92;
const LETTER_N = 78;
const QUOTE = 34;
const AT = 64;

/** 0: letters and digits, and bytes between words. */
const OTHER = 1;
/** Ends a part of a document. */
const MARK = 2;
const END = 3;
const KINDS = new Uint8Array(256).map((_, byte) => {
  if (byte === TAB || byte === LINE_FEED) return END;
  // Zero bytes do not end a word.
  if (!isPlainByte(byte) || byte === 0) return OTHER;
  return '@"{}[]<>,:()'.includes(String.fromCharCode(byte)) ? MARK : 0;
});

/**
 * Finds the stored fields that hold no value of the table for certain. Checks the first halves of the digests only: one
 * digest and one filter for nearly all fields.
 */
export class QuickCheck {
  readonly #table: ValueTable;
  readonly #firsts = new Int32Array(MOST_WORDS_CHECKED + 1);
  readonly #letters = new Int32Array(MOST_WORDS_CHECKED + 1);
  /** The unions of the digests of each word. */
  readonly #somes = new Int32Array(MOST_WORDS_CHECKED);
  readonly #everies = new Int32Array(MOST_WORDS_CHECKED);
  /** The field is NULL. */
  isNull = false;

  constructor(table: ValueTable) {
    this.#table = table;
  }

  /** The end of the field that begins at `from`; -1 where it may hold a value, is not plain, or does not end. */
  pass(bytes: Uint8Array, from: number): number {
    const size = bytes.length;
    let first = 0;
    let length = 0;
    let wordStart = 0;
    let count = 0;
    let some = 0;
    let every = -1;
    let allSome = 0;
    let allEvery = -1;
    this.isNull = false;
    let at = from;
    for (; at < size; at += 1) {
      const code = bytes[at] as number;
      const digest = PLAIN_FIRST[code] as number;
      if (digest !== 0) {
        first = (Math.imul(first, BASE_FIRST) + digest) | 0;
        length += 1;
        some |= digest;
        every &= digest;
        continue;
      }
      if (length > wordStart) {
        if (count === MOST_WORDS_CHECKED) return -1;
        this.#somes[count] = some;
        this.#everies[count] = every;
        allSome |= some;
        allEvery &= every;
        count += 1;
        this.#firsts[count] = first;
        this.#letters[count] = length;
        wordStart = length;
        some = 0;
        every = -1;
      }
      const kind = KINDS[code] as number;
      if (kind === END) break;
      if (kind === OTHER) return this.#nullAt(bytes, from, at);
    }
    if (at === size) return -1;
    if (count === 0) return at;
    if (this.#table.hasShape(length, allSome, allEvery) && this.#table.mayHold(first)) return -1;
    if (count > 1 && this.#mayHoldWords(count)) return -1;
    return STRUCTURES[bytes[from] as number] === 1 && mayHoldParts(this.#table, bytes, { from, to: at }) ? -1 : at;
  }

  #nullAt(bytes: Uint8Array, from: number, at: number): number {
    if (at !== from || bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_N) return -1;
    if (bytes[at + 2] !== TAB && bytes[at + 2] !== LINE_FEED) return -1;
    this.isNull = true;
    return at + 2;
  }

  #mayHoldWords(count: number): boolean {
    const table = this.#table;
    const firsts = this.#firsts;
    const letters = this.#letters;
    for (let at = 0; at < count; at += 1) {
      const before = firsts[at] as number;
      const start = letters[at] as number;
      const wordLength = (letters[at + 1] as number) - start;
      if (!table.hasWordShape(wordLength, this.#somes[at] as number, this.#everies[at] as number)) continue;
      const word = digestFirst(before, firsts[at + 1] as number, wordLength);
      let lengths = table.wordsAfter(word);
      while (lengths !== 0) {
        const after = at + 32 - Math.clz32(lengths & -lengths);
        lengths &= lengths - 1;
        if (after > count) break;
        const length = (letters[after] as number) - start;
        // The shape of the first 31 words of a longer value is not known.
        if (after - at < MOST_WORDS && !this.#hasShape(at, after, length)) continue;
        if (table.mayHold(digestFirst(before, firsts[after] as number, length))) return true;
      }
    }
    return false;
  }

  #hasShape(at: number, after: number, length: number): boolean {
    let some = 0;
    let every = -1;
    for (let word = at; word < after; word += 1) {
      some |= this.#somes[word] as number;
      every &= this.#everies[word] as number;
    }
    return this.#table.hasShape(length, some, every);
  }
}

/** The parts between quotes, brackets and commas. */
function mayHoldParts(table: ValueTable, bytes: Uint8Array, { from, to }: { from: number; to: number }): boolean {
  let first = 0;
  let length = 0;
  let some = 0;
  let every = -1;
  let isQuoted = false;
  for (let at = from; at < to; at += 1) {
    const code = bytes[at] as number;
    const digest = PLAIN_FIRST[code] as number;
    if (digest !== 0) {
      first = (Math.imul(first, BASE_FIRST) + digest) | 0;
      length += 1;
      some |= digest;
      every &= digest;
      continue;
    }
    if (KINDS[code] !== MARK || code === AT) continue;
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted && code !== 60 && code !== 62) continue;
    if (length > 0 && table.hasShape(length, some, every) && table.mayHold(first)) return true;
    first = 0;
    length = 0;
    some = 0;
    every = -1;
  }
  return length > 0 && table.hasShape(length, some, every) && table.mayHold(first);
}
