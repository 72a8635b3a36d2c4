/** Bytes of SQL that the lexers of all engines read alike. */
const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const DOUBLE_QUOTE = 0x22;
export const DOLLAR = 0x24;
export const SINGLE_QUOTE = 0x27;
export const STAR = 0x2a;
export const MINUS = 0x2d;
export const SLASH = 0x2f;
export const BACKSLASH = 0x5c;

const UNDERSCORE = 0x5f;

export function isBlank(byte: number): boolean {
  return byte === SPACE || (byte >= TAB && byte <= CARRIAGE_RETURN);
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

export function isLetter(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || byte === UNDERSCORE || byte >= 0x80;
}

export function isWordPart(byte: number): boolean {
  return isLetter(byte) || isDigit(byte) || byte === DOLLAR;
}
