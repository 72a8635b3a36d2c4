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

function pattern({ plainBackslash = false }: LexicalMode): RegExp {
  const quotedBy = (quote: string): string =>
    plainBackslash
      ? `${quote}(?:[^${quote}]|${quote}${quote})*${quote}`
      : `${quote}(?:[^${quote}\\\\]|\\\\.|${quote}${quote})*${quote}`;
  return new RegExp(
    [
      `(?<space>${BLANK}+)`,
      // Two minus signs begin a comment only before a blank or a control character.
      '(?<line>--(?=[\\u0000-\\u0020]|$)[^\\n]*|#[^\\n]*)',
      // What a version of the server reads is no comment.
      '(?<comment>/\\*(?!!|M!)[^]*?\\*/)',
      '(?<name>`(?:[^`]|``)*`)',
      `(?<single>${quotedBy("'")})|(?<double>${quotedBy('"')})`,
      '(?<open>/\\*(?!!|M!)|[\'"`])',
      '(?<version>/\\*M?!\\d*)|(?<versionEnd>\\*/)',
      `(?<word>${WORD})`,
      '(?<other>[^])',
    ].join('|'),
    'suy',
  );
}

/** An unterminated quote or comment is a token of kind `open`. */
export type Lexer = (sql: string, at: number) => Token;

export function createLexer(mode: LexicalMode = {}): Lexer {
  const token = pattern(mode);
  return (sql, at) => {
    token.lastIndex = at;
    const groups = token.exec(sql)?.groups ?? {};
    const text = sql.slice(at, token.lastIndex);
    return { ...classified(groups, { text, mode }), text, at };
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

function classified(
  groups: Record<string, string | undefined>,
  { text, mode }: { text: string; mode: LexicalMode },
): Pick<Token, 'kind' | 'value'> {
  if (groups.space !== undefined) return { kind: 'space', value: text };
  if (groups.line !== undefined || groups.comment !== undefined) return { kind: 'comment', value: text };
  if (groups.name !== undefined) return { kind: 'name', value: unquoted(text) };
  if (groups.double !== undefined && mode.ansiQuotes) return { kind: 'name', value: unquoted(text) };
  if (groups.single !== undefined || groups.double !== undefined) return { kind: 'text', value: text };
  if (groups.open !== undefined) return { kind: 'open', value: text };
  if (groups.version !== undefined) return { kind: 'version', value: text };
  if (groups.versionEnd !== undefined) return { kind: 'versionEnd', value: text };
  if (groups.word !== undefined) return { kind: 'word', value: text.toUpperCase() };
  return { kind: 'other', value: text };
}

function unquoted(text: string): string {
  const quote = text.charAt(0);
  return text.slice(1, -1).replaceAll(quote + quote, quote);
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
