/**
 * Tokens as of the server's lexer: https://dev.mysql.com/doc/refman/en/lexical-structure.html. Blanks are ASCII only;
 * any other character is part of a name.
 */
export interface Token {
  kind: 'word' | 'name' | 'text' | 'version' | 'versionEnd' | 'comment' | 'space' | 'other' | 'open';
  text: string;
  /** A word in upper case, a name without quotes; otherwise the text. */
  value: string;
  at: number;
}

export interface LexicalMode {
  ansiQuotes?: boolean;
  plainBackslash?: boolean;
}

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
      // Version comments are statements for the server.
      '/\\*(?!!|M!)[^]*?\\*/',
      '`(?:[^`]|``)*`',
      `${quotedBy("'")}|${quotedBy('"')}`,
      // Unterminated.
      '/\\*(?!!|M!)|[\'"`]',
      '/\\*M?!\\d*|\\*/',
      WORD,
      '[^]',
    ].join('|'),
    'suy',
  );
}

/** Compiled once: thousands of definitions are read. */
const PATTERNS = { plain: pattern(true), escaped: pattern(false) };

/** An unterminated quote or comment is a token of kind `open`. */
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
  return text.slice(1, -1).replaceAll(quote + quote, () => quote);
}

export function significant(sql: string, mode: LexicalMode = {}): Token[] {
  return [...tokensOf(sql, mode)].filter(({ kind }) => kind !== 'space' && kind !== 'comment');
}

/** Number of tokens of `DEFINER = user@host`, `DEFINER = CURRENT_USER()` or `DEFINER = role`. */
export function definerLength(tokens: Token[]): number {
  if (tokens[3]?.text === '@') return 5;
  return tokens[3]?.text === '(' && tokens[4]?.text === ')' ? 5 : 3;
}

export function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.value === word;
}
