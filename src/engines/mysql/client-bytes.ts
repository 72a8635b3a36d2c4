import { type LexicalMode, type Token, tokensOf } from './definitions/tokens.ts';

/**
 * Statements as the bytes that a client sent, in its own character set: what stands in `_utf8mb4'…'` is no text of that
 * set, and so is lost when the server converts it. To be cut by the lexer they are written as text: a character for each
 * byte, and one for each pair of which the second may look like a quote or a backslash.
 */

/** Character sets with such pairs: bytes of the first and of the second of them. */
const PAIRS: Record<string, RegExp> = {
  sjis: /[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]/g,
  cp932: /[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]/g,
  big5: /[\xa1-\xf9][\x40-\x7e\xa1-\xfe]/g,
  gbk: /[\x81-\xfe][\x40-\x7e\x80-\xfe]/g,
  // Four bytes are two pairs.
  gb18030: /[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[\x30-\x39])/g,
};
/** Characters for private use: so many as there are pairs. */
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

/** Of which a statement in ASCII and one in UTF-8 are the same bytes. */
export function isUtf8(charset: string): boolean {
  return /^utf8(?:mb[34])?$/.test(charset);
}

/** Whether a statement in its bytes has the tokens of another, but for what is not ASCII in texts, names and words. */
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

/** In some sets the server takes a no-break space for a blank. */
export function asLexed(sql: string, charset: string): string {
  return isUtf8(charset) ? sql : sql.replaceAll('\u00a0', ' ');
}

function shapeOf({ kind, text }: Token): string {
  return /^\p{ASCII}*$/u.test(text) ? `${kind} ${text}` : kind;
}
