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

interface LexicalState extends LexicalMode {
  /** After the beginning of a version comment: only there the server takes an asterisk and a slash for its end. */
  versioned: boolean;
}

function pattern({ ansiQuotes, plainBackslash, versioned }: LexicalState): RegExp {
  const plain = (quote: string): string => `${quote}[^${quote}]*(?:${quote}${quote}[^${quote}]*)*${quote}`;
  const escaped = (quote: string): string =>
    `${quote}[^${quote}\\\\]*(?:(?:\\\\[^]|${quote}${quote})[^${quote}\\\\]*)*${quote}`;
  const text = plainBackslash ? plain : escaped;
  return new RegExp(
    [
      `${BLANK}+`,
      // Two minus signs begin a comment only before a blank or a control character.
      '--(?=[\\u0000-\\u0020\\u007f]|$)[^\\n]*|#[^\\n]*',
      // Version comments are statements for the server.
      '/\\*(?!!|M!)[^]*?\\*/',
      plain('`'),
      text("'"),
      // A backslash is a plain character in names.
      ansiQuotes ? plain('"') : text('"'),
      // Unterminated: nothing after it can be read.
      '(/\\*(?!!|M!)[^]*|[\'"`][^]*)',
      '/\\*M?!(?:\\d{5,6})?',
      ...(versioned ? ['\\*/'] : []),
      WORD,
      '[^]',
    ].join('|'),
    'suy',
  );
}

/** Compiled once: thousands of definitions are read. */
const PATTERNS = new Map<string, RegExp>();

function patternOf(state: LexicalState): RegExp {
  const key = `${state.ansiQuotes === true} ${state.plainBackslash === true} ${state.versioned}`;
  const known = PATTERNS.get(key);
  if (known) return known;
  const made = pattern(state);
  PATTERNS.set(key, made);
  return made;
}

/**
 * Reads one token after the other, from the beginning of a text: version comments are open until their end. An
 * unterminated quote or comment is a token of kind `open`, and the rest of the text.
 */
export type Lexer = (sql: string, at: number) => Token;

export function createLexer(mode: LexicalMode = {}): Lexer {
  const [outside, inside] = [false, true].map((versioned) => patternOf({ ...mode, versioned }));
  let versioned = false;
  return (sql, at) => {
    const token = (versioned ? inside : outside) as RegExp;
    token.lastIndex = at;
    const [text = '', open] = token.exec(sql) ?? [];
    const kind = open === undefined ? kindOf(text, mode) : 'open';
    if (kind === 'version') versioned = true;
    if (kind === 'versionEnd') versioned = false;
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
      return 'name';
    case '"':
      return ansiQuotes ? 'name' : 'text';
    case "'":
      return 'text';
    case '#':
      return 'comment';
    case '-':
      return isLonger ? 'comment' : 'other';
    case '*':
      return isLonger ? 'versionEnd' : 'other';
    case '/':
      if (!isLonger) return 'other';
      return /^..M?!/.test(text) ? 'version' : 'comment';
    default:
      return WORDS.test(text) ? 'word' : 'other';
  }
}

const WORDS = new RegExp(`^${WORD}`, 'u');

function unquoted(text: string): string {
  const quote = text.charAt(0);
  return text.slice(1, -1).replaceAll(quote + quote, () => quote);
}

/**
 * The first token that servers, versions or character sets read differently, so that a check might read another
 * statement than the server executes; `null` in a clear text.
 */
export function unclearIn(tokens: Token[]): Token | null {
  return tokens.find((token, at) => isUnclear(token, tokens, at)) ?? null;
}

function isUnclear({ kind, text }: Token, tokens: Token[], at: number): boolean {
  const next = tokens[at + 1]?.text ?? '';
  switch (kind) {
    case 'open':
      return true;
    case 'comment':
      // The server reads the quoted names of a hint, and the end of a comment may be in one.
      return text.startsWith('/*+') && !CLEAR_HINT.test(text.slice(3, -2));
    case 'word':
      // MySQL 9 begins a text with `$$` or `$tag$`.
      return text.startsWith('$') && text.includes('$', 1);
    case 'versionEnd':
      return false;
    case 'other':
      if (/\p{Cc}/u.test(text)) return true;
      // `\N` is NULL.
      if (text === '\\') return !/^N/.test(next);
      // Outside ASCII the character set decides whether it is a blank.
      return text === '-' && next === '-' && /^[^\p{ASCII}]/u.test(tokens[at + 2]?.text ?? '');
    default:
      return false;
  }
}

const CLEAR_HINT = /^(?:[^'"`\\]|'[^'\\]*'|"[^"\\]*"|`[^`\\]*`)*$/;

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
