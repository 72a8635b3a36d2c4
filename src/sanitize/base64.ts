/** First words of statements. Text that decodes to anything else is SQL that looks like base64. */
const FIRST_WORDS =
  /^(ALTER|ANALYZE|BEGIN|CALL|COMMENT|COMMIT|COPY|CREATE|DELETE|DELIMITER|DISCARD|DO|DROP|EXECUTE|EXPLAIN|GRANT|INSERT|LOCK|MERGE|OPTIMIZE|PREPARE|REASSIGN|REFRESH|REINDEX|RENAME|REPLACE|RESET|REVOKE|SAVEPOINT|SECURITY|SELECT|SET|START|TABLE|TRUNCATE|UPDATE|USE|VACUUM|VALUES|WITH)\b/i;
const LEADING = /^(?:\s|;|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;
const SHAPE = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Control characters except tab and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are looked for
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/;

/** Decodes a query in base64; `null` when the result is not printable UTF-8 that reads as SQL. */
export function decodeQuery(text: string): string | null {
  const encoded = text.replaceAll(/\s/g, '');
  if (!SHAPE.test(encoded)) return null;
  const bytes = Buffer.from(encoded, 'base64');
  const decoded = decodeText(bytes);
  if (decoded === null || UNPRINTABLE.test(decoded)) return null;
  return FIRST_WORDS.test(decoded.replace(LEADING, '')) ? decoded : null;
}

export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
