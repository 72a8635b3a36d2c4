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

/**
 * Reads a value as its letters and digits, without case, blanks and punctuation. A digest of 64 bits is a polynomial
 * over them, so that the digest of any sequence of words follows from the digests at its two ends.
 */
export interface WordReader {
  /** `structured`: also the parts between quotes, brackets and commas are values. */
  begin(structured: boolean): void;
  /** A whole value of bytes below 128. */
  feedPlain(bytes: Uint8Array, from: number, to: number): void;
  /** UTF-16 units of a text in lower case, or bytes below 128. */
  feed(codes: Uint8Array | Uint16Array, from: number, to: number): void;
  end(): void;
  readonly value: ReadValue;
  readonly words: ReadWords;
}

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
export function createWordReader({ onWords, onPart }: WordSink): WordReader {
  const word = new Int32Array(WINDOW);
  const firsts = new Int32Array(WINDOW + 1);
  const seconds = new Int32Array(WINDOW + 1);
  const letters = new Float64Array(WINDOW + 1);
  const value: ReadValue = {
    ...{ first: 0, second: 0, words: 0, digits: 0, plainLetters: 0, mixedLetters: 0, firstWord: 0 },
    ...{
      firstDigits: 0,
      firstLetters: 0,
      isEmail: false,
      hasAt: false,
      hasBlank: false,
      prefixFirst: 0,
      prefixSecond: 0,
    },
  };
  const part = { start: 0, end: 0, first: 0, second: 0 };
  let count = 0;
  /** The word that goes on in the next codes. */
  const open = { first: 0, second: 0, length: 0, digits: 0 };
  const size: WordSize = { length: 0, digits: 0 };
  let isStructured = false;
  let isQuoted = false;
  let hasSlid = false;

  function noteBeginning(): void {
    const at = Math.min(count, MOST_WORDS);
    value.firstWord = word[0] as number;
    value.prefixFirst = firsts[at] as number;
    value.prefixSecond = seconds[at] as number;
  }

  /** Words near the end begin values that continue after it. */
  function slide(): void {
    if (!hasSlid) noteBeginning();
    hasSlid = true;
    const searched = count - MOST_WORDS;
    onWords?.(searched, count);
    word.copyWithin(0, searched, count);
    for (const column of [firsts, seconds, letters]) column.copyWithin(0, searched, count + 1);
    count = MOST_WORDS;
  }

  function endWord(first: number, second: number, { length, digits }: WordSize): void {
    const before = count;
    word[before] = first;
    count = before + 1;
    firsts[count] = Math.imul(firsts[before] as number, powerFirst(length)) + first;
    seconds[count] = Math.imul(seconds[before] as number, powerSecond(length)) + second;
    letters[count] = (letters[before] as number) + length;
    if (value.words === 0) {
      value.firstDigits = digits;
      value.firstLetters = length - digits;
    }
    value.words += 1;
    value.digits += digits;
    if (digits === 0) value.plainLetters += length;
    else value.mixedLetters += length - digits;
    if (count === WINDOW) slide();
  }

  function endOpenWord(): void {
    endWord(open.first, open.second, open);
    clear(open);
  }

  function mark(code: number): void {
    if (code === AT) value.hasAt = true;
    else if (code === 32 || code === 9 || code === 10 || code === 13) value.hasBlank = true;
    else if (isStructured) {
      if (code === QUOTE) isQuoted = !isQuoted;
      else if (isQuoted && code !== 60 && code !== 62) return;
      endPart();
    }
  }

  function endPart(): void {
    const [first, second, end] = [firsts[count] as number, seconds[count] as number, letters[count] as number];
    if (end > part.start) {
      part.end = end;
      const length = end - part.start;
      onPart?.(digestFirst(part.first, first, length), digestSecond(part.second, second, length), part);
    }
    part.start = end;
    part.first = first;
    part.second = second;
  }

  return {
    value,
    words: { word, first: firsts, second: seconds, letters },
    begin(structured) {
      value.words = 0;
      value.digits = 0;
      value.plainLetters = 0;
      value.mixedLetters = 0;
      value.hasAt = false;
      value.hasBlank = false;
      count = 0;
      firsts[0] = 0;
      seconds[0] = 0;
      letters[0] = 0;
      if (open.length > 0) clear(open);
      hasSlid = false;
      isStructured = structured;
      if (!structured) return;
      isQuoted = false;
      part.start = 0;
      part.first = 0;
      part.second = 0;
    },
    feedPlain(bytes, from, to) {
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
          endWord(first, second, size);
          first = 0;
          second = 0;
          size.length = 0;
          size.digits = 0;
        }
        if (code === BLANK) value.hasBlank = true;
        else if (CLASS[code] === MARK) mark(code);
      }
      if (size.length > 0) endWord(first, second, size);
    },
    feed(codes, from, to) {
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
        if (open.length > 0) endOpenWord();
        if (kind === MARK) mark(code);
        else if (kind === IDEOGRAPH) {
          endWord(spread(code, FACTOR_FIRST), spread(code, FACTOR_SECOND), ONE_LETTER);
          value.plainLetters += IDEOGRAPH_LETTERS - 1;
        }
      }
    },
    end() {
      if (open.length > 0) endOpenWord();
      if (isStructured) endPart();
      value.first = firsts[count] as number;
      value.second = seconds[count] as number;
      value.isEmail = value.hasAt && !value.hasBlank && value.words >= 3;
      if (!hasSlid) noteBeginning();
      onWords?.(count, count);
    },
  };
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
