import { type LexicalMode, type Token, tokensOf } from './definitions/tokens.ts';

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

/** Whether both statements have the same tokens, apart from non-ASCII text. */
export function hasTokensOf(
  sql: string,
  inBytes: string,
  { charset, mode }: { charset: string; mode: LexicalMode },
): boolean {
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
