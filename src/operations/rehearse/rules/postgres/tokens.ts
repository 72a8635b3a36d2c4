import { DOLLAR, isBlank, isDigit, isLetter, isWordPart } from '../../../../engines/shared/script/script-bytes.ts';
import type { SqlToken } from '../sql/cursor.ts';

const STRING_PREFIX = /^(?:e|n|b|x|u&)$/i;
const ESCAPES = /\\(.)/gsu;

/**
 * Returns the tokens as of the server's lexer; an unterminated quote or comment is the rest of the text.
 * https://www.postgresql.org/docs/current/sql-syntax-lexical.html
 */
export function postgresTokens(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (let at = 0; at < sql.length; ) {
    const blank = endOfBlank(sql, at);
    if (blank > at) {
      at = blank;
      continue;
    }
    const token = tokenAt(sql, at);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

/** End of the blanks or the comment at an offset. */
function endOfBlank(sql: string, at: number): number {
  if (isBlank(sql.charCodeAt(at))) return at + 1;
  if (sql.startsWith('--', at)) {
    const end = sql.slice(at).search(/[\r\n]/);
    return end === -1 ? sql.length : at + end;
  }
  return sql.startsWith('/*', at) ? endOfComment(sql, at) : at;
}

/** Comments nest. */
function endOfComment(sql: string, from: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = from;
  let depth = 0;
  for (let mark = marks.exec(sql); mark; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return sql.length;
}

function tokenAt(sql: string, at: number): SqlToken {
  const first = sql.charCodeAt(at);
  if (isLetter(first)) return wordAt(sql, at);
  if (isDigit(first)) return { kind: 'word', ...valueTo(sql, at, endOfWord(sql, at)) };
  if (sql[at] === '"') return quoted(sql, { at, from: at, kind: 'name' });
  if (sql[at] === "'") return quoted(sql, { at, from: at, kind: 'text' });
  return dollarQuoted(sql, at) ?? { kind: 'other', ...valueTo(sql, at, at + 1) };
}

/** `$$…$$` or `$tag$…$tag$`. */
function dollarQuoted(sql: string, at: number): SqlToken | null {
  if (sql.charCodeAt(at) !== DOLLAR) return null;
  let from = at + 1;
  while (isWordPart(sql.charCodeAt(from)) && sql.charCodeAt(from) !== DOLLAR) from += 1;
  if (sql.charCodeAt(from) !== DOLLAR || isDigit(sql.charCodeAt(at + 1))) return null;
  const tag = sql.slice(at, from + 1);
  const end = sql.indexOf(tag, from + 1);
  if (end === -1) return { kind: 'text', value: sql.slice(from + 1), at, end: sql.length };
  return { kind: 'text', value: sql.slice(from + 1, end), at, end: end + tag.length };
}

function valueTo(sql: string, at: number, end: number): { value: string; at: number; end: number } {
  return { value: sql.slice(at, end), at, end };
}

function endOfWord(sql: string, at: number): number {
  let end = at + 1;
  while (isWordPart(sql.charCodeAt(end))) end += 1;
  return end;
}

/** A word, or the prefix of a text (`E'…'`) or of a name (`U&"…"`). */
function wordAt(sql: string, at: number): SqlToken {
  const isUnicode = /^u&['"]/i.test(sql.slice(at, at + 3));
  const end = isUnicode ? at + 2 : endOfWord(sql, at);
  const quote = sql[end];
  const isPrefix = end - at <= 2 && STRING_PREFIX.test(sql.slice(at, end));
  if (isPrefix && quote === "'") {
    const escapes = /^e$/i.test(sql.slice(at, end));
    return quoted(sql, { at, from: end, kind: 'text', escapes });
  }
  if (isUnicode) return quoted(sql, { at, from: end, kind: 'name' });
  return { kind: 'word', ...valueTo(sql, at, end) };
}

interface Quote {
  /** Offsets of the token and of its quote. */
  at: number;
  from: number;
  kind: 'name' | 'text';
  escapes?: boolean;
}

function quoted(sql: string, { at, from, kind, escapes = false }: Quote): SqlToken {
  const quote = sql.charAt(from);
  let end = from + 1;
  for (; end < sql.length; end += 1) {
    if (sql[end] === '\\' && escapes) end += 1;
    else if (sql[end] === quote && sql[end + 1] === quote) end += 1;
    else if (sql[end] === quote) break;
  }
  const value = sql.slice(from + 1, end).replaceAll(quote + quote, () => quote);
  return { kind, value: escapes ? value.replaceAll(ESCAPES, '$1') : value, at, end: Math.min(end + 1, sql.length) };
}
