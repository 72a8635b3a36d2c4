// Digests of letters and words for the search of leaks.

export const BASE_FIRST = 0x01000193;
export const BASE_SECOND = 0x5bd1e995;

const SEPARATOR = 0;
export const DIGIT = 1;
export const LETTER = 2;
export const SKIPPED = 4;
export const MARK = 8;
export const IDEOGRAPH = 16;

export const CLASS = new Uint8Array(128);
export const FIRST = new Int32Array(128);
export const SECOND = new Int32Array(128);
export const FACTOR_FIRST = 0x9e3779b1;
export const FACTOR_SECOND = 0x7feb352d;
for (let code = 0; code < 128; code += 1) {
  const letter = String.fromCharCode(code).toLowerCase();
  if (/\d/.test(letter)) CLASS[code] = DIGIT;
  else if (/[a-z]/.test(letter)) CLASS[code] = LETTER;
  else if (code === 0) CLASS[code] = SKIPPED;
  else if ('@"{}[]<>,:() \t\n\r'.includes(letter)) CLASS[code] = MARK;
  FIRST[code] = withSign(spread(letter.charCodeAt(0), FACTOR_FIRST), CLASS[code] === LETTER);
  SECOND[code] = spread(letter.charCodeAt(0), FACTOR_SECOND);
}

/** 0: neither a letter nor a digit, or a byte above 127. The sign tells letters, which are negative, from digits. */
export const PLAIN_FIRST = new Int32Array(256).map((_, code) =>
  code > 127 || ((CLASS[code] as number) & (DIGIT | LETTER)) === 0 ? 0 : (FIRST[code] as number),
);
export const PLAIN_DIGIT = CLASS.map((kind) => kind & DIGIT);

const POWERS = 4096;
const POWERS_FIRST = new Int32Array(POWERS).fill(1);
const POWERS_SECOND = new Int32Array(POWERS).fill(1);
for (let at = 1; at < POWERS; at += 1) {
  POWERS_FIRST[at] = Math.imul(POWERS_FIRST[at - 1] as number, BASE_FIRST);
  POWERS_SECOND[at] = Math.imul(POWERS_SECOND[at - 1] as number, BASE_SECOND);
}

/** The digest of a sequence of words. */
export function digestFirst(before: number, after: number, letters: number): number {
  return (after - Math.imul(before, powerFirst(letters))) | 0;
}

export function digestSecond(before: number, after: number, letters: number): number {
  return (after - Math.imul(before, powerSecond(letters))) | 0;
}

export function powerFirst(letters: number): number {
  return letters < POWERS ? (POWERS_FIRST[letters] as number) : powerOf(letters, BASE_FIRST);
}

export function powerSecond(letters: number): number {
  return letters < POWERS ? (POWERS_SECOND[letters] as number) : powerOf(letters, BASE_SECOND);
}

export function digestOf(code: number, known: Int32Array, factor: number): number {
  return code < 128 ? (known[code] as number) : spread(code, factor);
}

export function classOf(code: number): number {
  if (code >= 0x2e80 && code <= 0x9fff) return code >= 0x3000 && code <= 0x303f ? SEPARATOR : IDEOGRAPH;
  const isSpace = code <= 0xbf && code !== 0xaa && code !== 0xb5 && code !== 0xba;
  const isPunctuation = (code >= 0x2000 && code <= 0x206f) || code === 0xd7 || code === 0xf7 || code >= 0xe000;
  return isSpace || (isPunctuation && !(code >= 0xf900 && code <= 0xfaff)) ? SEPARATOR : LETTER;
}

function withSign(digest: number, isNegative: boolean): number {
  return isNegative ? digest | 0x80000000 : digest & 0x7fffffff;
}

export function spread(code: number, factor: number): number {
  let hash = Math.imul(code + 1, factor);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) | 0;
}

function powerOf(exponent: number, base: number): number {
  let [result, factor, left] = [1, base, exponent];
  while (left > 0) {
    if (left % 2 === 1) result = Math.imul(result, factor);
    factor = Math.imul(factor, factor);
    left = Math.floor(left / 2);
  }
  return result;
}

/** The letters and digits that the reader reads of a text. */
export function squeeze(text: string): string {
  let squeezed = '';
  for (const letter of text.normalize('NFC').toLowerCase().split('')) {
    const code = letter.charCodeAt(0);
    const kind = (code < 128 ? CLASS[code] : classOf(code)) ?? SEPARATOR;
    if ((kind & (DIGIT | LETTER | IDEOGRAPH)) !== 0) squeezed += letter;
  }
  return squeezed;
}
