import { MOST_WORDS } from './value-table.ts';
import {
  BASE_FIRST,
  BASE_SECOND,
  CLASS,
  classOf,
  DIGIT,
  digestFirst,
  digestOf,
  digestSecond,
  FACTOR_FIRST,
  FACTOR_SECOND,
  FIRST,
  IDEOGRAPH,
  LETTER,
  MARK,
  PLAIN_DIGIT,
  PLAIN_FIRST,
  powerFirst,
  powerSecond,
  SECOND,
  SKIPPED,
  spread,
} from './word-digest.ts';

/** The value as a whole. */
export interface ReadValue {
  first: number;
  second: number;
  words: number;
  digits: number;
  /** In words without digits. */
  plainLetters: number;
  /** In words with digits. */
  mixedLetters: number;
  isEmail: boolean;
  hasAt: boolean;
  hasBlank: boolean;
  firstWord: number;
  firstDigits: number;
  firstLetters: number;
  /** The digest of its first `MOST_WORDS` words. */
  prefixFirst: number;
  prefixSecond: number;
}

/** Words of a part of the value; word `n` is between digest `n` and digest `n + 1`. */
export interface ReadWords {
  word: Int32Array;
  first: Int32Array;
  second: Int32Array;
  /** Letters and digits of the value up to the digest. */
  letters: Float64Array;
}

export interface WordSink {
  /** `searchable` words have enough words behind them, the others come again. */
  onWords?: (searchable: number, count: number) => void;
  /** A part of a structured value, between these letters and digits of it. */
  onPart?: (first: number, second: number, place: { start: number; end: number }) => void;
}

const WINDOW = 4096;

const AT = 64;
const QUOTE = 34;
const BLANK = 32;
/** An ideograph has about the information of so many letters. */
const IDEOGRAPH_LETTERS = 4;

/**
 * Reads a value as its letters and digits, without case, blanks and punctuation. A digest of 64 bits is a polynomial
 * over them, so that the digest of any sequence of words follows from the digests at its two ends.
 */
export class WordReader {
  readonly value: ReadValue = {
    ...{ first: 0, second: 0, words: 0, digits: 0, plainLetters: 0, mixedLetters: 0, firstWord: 0 },
    ...{ firstDigits: 0, firstLetters: 0, isEmail: false, hasAt: false, hasBlank: false },
    ...{ prefixFirst: 0, prefixSecond: 0 },
  };
  readonly words: ReadWords = {
    word: new Int32Array(WINDOW),
    first: new Int32Array(WINDOW + 1),
    second: new Int32Array(WINDOW + 1),
    letters: new Float64Array(WINDOW + 1),
  };
  readonly #sink: WordSink;
  readonly #part = { start: 0, end: 0, first: 0, second: 0 };
  /** The word that goes on in the next codes. */
  readonly #open = { first: 0, second: 0, length: 0, digits: 0 };
  readonly #size: WordSize = { length: 0, digits: 0 };
  #count = 0;
  #isStructured = false;
  #isQuoted = false;
  #hasSlid = false;

  constructor(sink: WordSink) {
    this.#sink = sink;
  }

  /** `isStructured`: also the parts between quotes, brackets and commas are values. */
  begin(isStructured: boolean): void {
    const { value, words } = this;
    value.words = 0;
    value.digits = 0;
    value.plainLetters = 0;
    value.mixedLetters = 0;
    value.hasAt = false;
    value.hasBlank = false;
    this.#count = 0;
    words.first[0] = 0;
    words.second[0] = 0;
    words.letters[0] = 0;
    if (this.#open.length > 0) clear(this.#open);
    this.#hasSlid = false;
    this.#isStructured = isStructured;
    if (!isStructured) return;
    this.#isQuoted = false;
    this.#part.start = 0;
    this.#part.first = 0;
    this.#part.second = 0;
  }

  /** A whole value of bytes below 128. */
  feedPlain(bytes: Uint8Array, from: number, to: number): void {
    const size = this.#size;
    let first = 0;
    let second = 0;
    size.length = 0;
    size.digits = 0;
    let at = from;
    while (at < to) {
      const code = bytes[at] as number;
      at += 1;
      const letter = PLAIN_FIRST[code] as number;
      if (letter !== 0) {
        first = (Math.imul(first, BASE_FIRST) + letter) | 0;
        second = (Math.imul(second, BASE_SECOND) + (SECOND[code] as number)) | 0;
        size.length += 1;
        size.digits += PLAIN_DIGIT[code] as number;
        continue;
      }
      if (code === 0) continue;
      if (size.length > 0) {
        this.#endWord(first, second, size);
        first = 0;
        second = 0;
        size.length = 0;
        size.digits = 0;
      }
      if (code === BLANK) this.value.hasBlank = true;
      else if (CLASS[code] === MARK) this.#mark(code);
    }
    if (size.length > 0) this.#endWord(first, second, size);
  }

  /** UTF-16 units of a text in lower case, or bytes below 128. */
  feed(codes: Uint8Array | Uint16Array, from: number, to: number): void {
    const open = this.#open;
    for (let at = from; at < to; at += 1) {
      const code = codes[at] as number;
      const kind = code < 128 ? (CLASS[code] as number) : classOf(code);
      if ((kind & (DIGIT | LETTER)) !== 0) {
        open.first = (Math.imul(open.first, BASE_FIRST) + digestOf(code, FIRST, FACTOR_FIRST)) | 0;
        open.second = (Math.imul(open.second, BASE_SECOND) + digestOf(code, SECOND, FACTOR_SECOND)) | 0;
        open.length += 1;
        open.digits += kind & DIGIT;
        continue;
      }
      if (kind === SKIPPED) continue;
      this.#endOpenWord();
      if (kind === MARK) this.#mark(code);
      else if (kind === IDEOGRAPH) {
        this.#endWord(spread(code, FACTOR_FIRST), spread(code, FACTOR_SECOND), ONE_LETTER);
        this.value.plainLetters += IDEOGRAPH_LETTERS - 1;
      }
    }
  }

  end(): void {
    const { value, words } = this;
    this.#endOpenWord();
    if (this.#isStructured) this.#endPart();
    value.first = words.first[this.#count] as number;
    value.second = words.second[this.#count] as number;
    value.isEmail = value.hasAt && !value.hasBlank && value.words >= 3;
    if (!this.#hasSlid) this.#noteBeginning();
    this.#sink.onWords?.(this.#count, this.#count);
  }

  #endOpenWord(): void {
    const open = this.#open;
    if (open.length === 0) return;
    this.#endWord(open.first, open.second, open);
    clear(open);
  }

  #endWord(first: number, second: number, { length, digits }: WordSize): void {
    const { value, words } = this;
    const before = this.#count;
    const count = before + 1;
    this.#count = count;
    words.word[before] = first;
    words.first[count] = Math.imul(words.first[before] as number, powerFirst(length)) + first;
    words.second[count] = Math.imul(words.second[before] as number, powerSecond(length)) + second;
    words.letters[count] = (words.letters[before] as number) + length;
    if (value.words === 0) {
      value.firstDigits = digits;
      value.firstLetters = length - digits;
    }
    value.words += 1;
    value.digits += digits;
    if (digits === 0) value.plainLetters += length;
    else value.mixedLetters += length - digits;
    if (count === WINDOW) this.#slide();
  }

  /** Words near the end begin values that continue after it. */
  #slide(): void {
    const { word, first, second, letters } = this.words;
    if (!this.#hasSlid) this.#noteBeginning();
    this.#hasSlid = true;
    const searched = WINDOW - MOST_WORDS;
    this.#sink.onWords?.(searched, WINDOW);
    for (const column of [word, first, second, letters]) column.copyWithin(0, searched);
    this.#count = MOST_WORDS;
  }

  #noteBeginning(): void {
    const { value, words } = this;
    const at = Math.min(this.#count, MOST_WORDS);
    value.firstWord = words.word[0] as number;
    value.prefixFirst = words.first[at] as number;
    value.prefixSecond = words.second[at] as number;
  }

  #mark(code: number): void {
    if (code === AT) this.value.hasAt = true;
    else if (code === BLANK || code === 9 || code === 10 || code === 13) this.value.hasBlank = true;
    else if (this.#isStructured) {
      if (code === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (this.#isQuoted && code !== 60 && code !== 62) return;
      this.#endPart();
    }
  }

  #endPart(): void {
    const { words } = this;
    const part = this.#part;
    const first = words.first[this.#count] as number;
    const second = words.second[this.#count] as number;
    const end = words.letters[this.#count] as number;
    if (end > part.start) {
      part.end = end;
      const length = end - part.start;
      this.#sink.onPart?.(digestFirst(part.first, first, length), digestSecond(part.second, second, length), part);
    }
    part.start = end;
    part.first = first;
    part.second = second;
  }
}

interface WordSize {
  length: number;
  digits: number;
}

const ONE_LETTER: WordSize = { length: 1, digits: 0 };

function clear(word: { first: number; second: number; length: number; digits: number }): void {
  word.first = 0;
  word.second = 0;
  word.length = 0;
  word.digits = 0;
}
