import { type LexicalMode, type Token, tokensOf } from './tokens.ts';

/**
 * Statements as the bytes that a client sent in its character set. Conversion by the server would lose texts such as
 * `_utf8mb4'…'`. For the lexer each byte becomes a character, and each two-byte character whose second byte may look
 * like a quote or backslash becomes one private-use character.
 */

/** Character sets with such two-byte characters: first and second byte. */
const PAIRS: Record<string, RegExp> = {
  sjis: /[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]/g,
  cp932: /[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]/g,
  big5: /[\xa1-\xf9][\x40-\x7e\xa1-\xfe]/g,
  gbk: /[\x81-\xfe][\x40-\x7e\x80-\xfe]/g,
  // A four-byte character is two pairs.
  gb18030: /[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[\x30-\x39])/g,
};
const FIRST_PAIR = 0xf0000;

export function textOfBytes(bytes: Uint8Array, charset: string): string {
  const text = Buffer.from(bytes).toString('latin1');
  const pairs = PAIRS[charset];
  if (!pairs) return text;
  return text.replaceAll(pairs, (pair) =>
    String.fromCodePoint(FIRST_PAIR + pair.charCodeAt(0) * 256 + pair.charCodeAt(1)),
  );
}

/** Character sets of statements whose bytes are read here as by the server. */
const CLIENT_CHARSETS = new Set(
  [
    'utf8 utf8mb3 utf8mb4 ascii binary big5 dec8 cp850 hp8 koi8r latin1 latin2 ujis sjis hebrew tis620 euckr koi8u',
    'gb2312 greek cp1250 gbk latin5 armscii8 cp866 keybcs2 macce macroman cp852 latin7 cp1251 cp1256 cp1257 geostd8',
    'cp932 eucjpms gb18030',
  ].flatMap((names) => names.split(' ')),
);

export function isClientCharset(charset: string): boolean {
  return CLIENT_CHARSETS.has(charset);
}

/** Letters of several bytes. */
const UTF8 = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;
const EUC_JP = /\x8e[\xa1-\xdf]|\x8f[\xa1-\xfe]{2}|[\xa1-\xfe]{2}/g;
const LETTERS: Record<string, RegExp> = {
  ...{ utf8: UTF8, utf8mb3: UTF8, utf8mb4: UTF8, ujis: EUC_JP, eucjpms: EUC_JP },
  ...{ euckr: /[\x81-\xfe][\x41-\x5a\x61-\x7a\x81-\xfe]/g, gb2312: /[\xa1-\xf7][\xa1-\xfe]/g },
  // Letters of one byte.
  ...{ sjis: /[\xa1-\xdf]/g, cp932: /[\xa1-\xdf]/g, big5: /(?!)/g, gbk: /(?!)/g, gb18030: /(?!)/g },
};

/** In a quoted name the server passes over as many bytes as the first of a letter announces, also over the quote. */
export function hasWholeLetters(name: string, charset: string): boolean {
  const letters = LETTERS[charset];
  return letters === undefined || !/[\x80-\xff]/.test(name.replaceAll(letters, ''));
}

/** In a text the server escapes one byte: if the second byte of that letter is a backslash, it escapes what follows. */
export function escapesPair(text: string): boolean {
  return [...text.matchAll(/\\(.)/gsu)].some(([, escaped = '']) => {
    const number = (escaped.codePointAt(0) ?? 0) - FIRST_PAIR;
    return number >= 0 && (number & 255) === BACKSLASH;
  });
}

const BACKSLASH = 0x5c;

export function bytesOfText(text: string): Buffer {
  const bytes = text.replaceAll(/[\u{f0000}-\u{fffff}]/gu, (pair) => {
    const number = (pair.codePointAt(0) ?? 0) - FIRST_PAIR;
    return String.fromCharCode(number >> 8, number & 255);
  });
  return Buffer.from(bytes, 'latin1');
}

export function isUtf8(charset: string): boolean {
  return /^utf8(?:mb[34])?$/.test(charset);
}

/** Reports whether both statements have the same tokens, apart from non-ASCII text. */
export function hasTokensOf(sql: string, inBytes: string, { charset, mode }: { charset: string; mode: LexicalMode }) {
  const [text, bytes] = [sql, inBytes].map((statement) => [...tokensOf(asLexed(statement, charset), mode)]);
  return (
    text?.length === bytes?.length &&
    text?.every((token, at) => shapeOf(token) === shapeOf(bytes?.[at] as Token)) === true
  );
}

/** In some character sets a no-break space is a blank. */
export function asLexed(sql: string, charset: string): string {
  return isUtf8(charset) ? sql : sql.replaceAll('\u00a0', ' ');
}

function shapeOf({ kind, text }: Token): string {
  return /^\p{ASCII}*$/u.test(text) ? `${kind} ${text}` : kind;
}
