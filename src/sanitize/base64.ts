/** What a statement may begin with. A text that decodes to anything else was no base64, but SQL that looks like it. */
const FIRST_WORDS =
  /^(ALTER|ANALYZE|BEGIN|CALL|COMMENT|COMMIT|COPY|CREATE|DELETE|DELIMITER|DISCARD|DO|DROP|EXECUTE|EXPLAIN|GRANT|INSERT|LOCK|MERGE|OPTIMIZE|PREPARE|REASSIGN|REFRESH|REINDEX|RENAME|REPLACE|RESET|REVOKE|SAVEPOINT|SECURITY|SELECT|SET|START|TABLE|TRUNCATE|UPDATE|USE|VACUUM|VALUES|WITH)\b/i;
/** Comments and white space before the first word. */
const LEADING = /^(?:\s|;|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;
const SHAPE = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Everything that a text file does not hold: control characters but tab and the ends of lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are looked for
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/;

/** The query that a text is in base64; `null` when it is not printable UTF-8 that reads as SQL, and so no base64. */
export function decodeQuery(text: string): string | null {
  const encoded = text.replaceAll(/\s/g, '');
  if (!SHAPE.test(encoded)) return null;
  const bytes = Buffer.from(encoded, 'base64');
  const decoded = decodeText(bytes);
  if (decoded === null || UNPRINTABLE.test(decoded)) return null;
  return FIRST_WORDS.test(decoded.replace(LEADING, '')) ? decoded : null;
}

/** Bytes as UTF-8, without a byte order mark; `null` when they are not. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
