import type { PersonalKind } from '../detector/kinds.ts';
import { NAME, NUMBER, RARE, TELLING, WORD } from './value-table.ts';
import type { ReadValue } from './word-reader.ts';

/** A column of the original that looks like personal data. */
export interface LeakColumn {
  id: number;
  kind: PersonalKind;
  /** Dates and times: all of them are values of other columns, too. */
  isDate: boolean;
  /** A few values make up the column. */
  repeats: boolean;
  /** Its values are documents or texts with personal data in them. */
  hasParts: boolean;
  /** Bits above which a new value is not equal to an old one by chance. */
  tellingBits: number;
  /** One of so many distinct values is counted. */
  scale: number;
}

const BITS_OF_DIGIT = 3.32;
/** Information of a letter of a word, in bits: few sequences of letters are words. */
const BITS_OF_PLAIN_LETTER = 1.5;
const BITS_OF_MIXED_LETTER = 4.7;
const LEAST_BITS = 24;
const LEAST_LETTERS = 3;
const LEAST_DIGITS = 5;

/** The information of a value that one of so many new values equals in less than 3 of 100 runs. */
export function tellingBits(values: number): number {
  return Math.max(LEAST_BITS, 2 * Math.log2(Math.max(1, values)) + 5);
}

/** -1: says nothing about a person. */
export function classOf(value: ReadValue, source: LeakColumn, kind: PersonalKind = source.kind): number {
  const { digits, plainLetters, mixedLetters } = value;
  const letters = plainLetters + mixedLetters;
  if (letters === 0 ? digits < LEAST_DIGITS : letters + digits < LEAST_LETTERS) return -1;
  if (value.isEmail) return TELLING;
  const isDate = kind === 'birth_date' || (kind === source.kind && source.isDate);
  if (isDate && letters <= 1) return NUMBER;
  const bits = BITS_OF_DIGIT * digits + BITS_OF_PLAIN_LETTER * plainLetters + BITS_OF_MIXED_LETTER * mixedLetters;
  if (bits < LEAST_BITS || source.repeats) {
    if (letters === 0) return NUMBER;
    return kind === 'name' || kind === 'login' ? NAME : WORD;
  }
  return bits >= source.tellingBits ? TELLING : RARE;
}
