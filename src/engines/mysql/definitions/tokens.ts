/**
 * SQL in pieces, as the server's lexer cuts it: https://dev.mysql.com/doc/refman/en/lexical-structure.html. Blanks are
 * those of ASCII only: to the server every other character is part of a name.
 */
export interface Token {
  kind: 'word' | 'name' | 'text' | 'version' | 'versionEnd' | 'comment' | 'space' | 'other' | 'open';
  /** As it stands in the statement. */
  text: string;
  /** A word in upper case, a name without its quotes; of other tokens the text. */
  value: string;
  /** Where it begins. */
  at: number;
}

/** Modes that change where quotes end and what they mean. */
export interface LexicalMode {
  /** Double quotes are those of a name. */
  ansiQuotes?: boolean;
  /** A backslash is a character like any other. */
  plainBackslash?: boolean;
}

/** Modes that contain ANSI_QUOTES. */
const ANSI = new Set(['ANSI', 'ANSI_QUOTES', 'DB2', 'MAXDB', 'MSSQL', 'ORACLE', 'POSTGRESQL']);

export function lexicalModeOf(sqlMode: string | null): LexicalMode {
  const modes = (sqlMode ?? '').toUpperCase().split(',');
  return {
    ansiQuotes: modes.some((mode) => ANSI.has(mode)),
    plainBackslash: modes.includes('NO_BACKSLASH_ESCAPES'),
  };
}

const BLANK = '[ \\t\\n\\v\\f\\r]';
const WORD = '[A-Za-z0-9_$\\u0080-\\u{10ffff}]+';

function pattern(plainBackslash: boolean): RegExp {
  const quotedBy = (quote: string): string =>
    plainBackslash
      ? `${quote}(?:[^${quote}]|${quote}${quote})*${quote}`
      : `${quote}(?:[^${quote}\\\\]|\\\\.|${quote}${quote})*${quote}`;
  return new RegExp(
    [
      `${BLANK}+`,
      // Two minus signs begin a comment only before a blank or a control character.
      '--(?=[\\u0000-\\u0020]|$)[^\\n]*|#[^\\n]*',
      // What a version of the server reads is no comment.
      '/\\*(?!!|M!)[^]*?\\*/',
      '`(?:[^`]|``)*`',
      `${quotedBy("'")}|${quotedBy('"')}`,
      // What never ends.
      '/\\*(?!!|M!)|[\'"`]',
      '/\\*M?!\\d*|\\*/',
      WORD,
      '[^]',
    ].join('|'),
    'suy',
  );
}

/** Thousands of definitions are read: an expression is compiled once. */
const PATTERNS = { plain: pattern(true), escaped: pattern(false) };

/** The token that begins at a place; what is open at the end of the text is one of kind `open`. */
export type Lexer = (sql: string, at: number) => Token;

export function createLexer(mode: LexicalMode = {}): Lexer {
  const token = mode.plainBackslash ? PATTERNS.plain : PATTERNS.escaped;
  return (sql, at) => {
    token.lastIndex = at;
    token.test(sql);
    const text = sql.slice(at, token.lastIndex);
    const kind = kindOf(text, mode);
    const value = kind === 'word' ? text.toUpperCase() : kind === 'name' ? unquoted(text) : text;
    return { kind, text, value, at };
  };
}

export function* tokensOf(sql: string, mode: LexicalMode = {}): Generator<Token> {
  const lexer = createLexer(mode);
  for (let at = 0; at < sql.length; ) {
    const token = lexer(sql, at);
    at += token.text.length;
    yield token;
  }
}

/** How a token begins, and whether it ends, tells what it is. */
function kindOf(text: string, { ansiQuotes = false }: LexicalMode): Token['kind'] {
  const isLonger = text.length > 1;
  switch (text.charAt(0)) {
    case ' ':
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
      return 'space';
    case '`':
      return isLonger ? 'name' : 'open';
    case '"':
      return isLonger ? (ansiQuotes ? 'name' : 'text') : 'open';
    case "'":
      return isLonger ? 'text' : 'open';
    case '#':
      return 'comment';
    case '-':
      return isLonger ? 'comment' : 'other';
    case '*':
      return isLonger ? 'versionEnd' : 'other';
    case '/':
      if (!isLonger) return 'other';
      return text === '/*' ? 'open' : /^..M?!/.test(text) ? 'version' : 'comment';
    default:
      return WORDS.test(text) ? 'word' : 'other';
  }
}

const WORDS = new RegExp(`^${WORD}`, 'u');

function unquoted(text: string): string {
  const quote = text.charAt(0);
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}

/** What means something: no blanks and no comments. */
export function significant(sql: string, mode: LexicalMode = {}): Token[] {
  return [...tokensOf(sql, mode)].filter(({ kind }) => kind !== 'space' && kind !== 'comment');
}

/** `DEFINER = user@host`, `DEFINER = CURRENT_USER()` or `DEFINER = role`: how many tokens these are. */
export function definerLength(tokens: Token[]): number {
  if (tokens[3]?.text === '@') return 5;
  return tokens[3]?.text === '(' && tokens[4]?.text === ')' ? 5 : 3;
}
