import {
  BACKSLASH,
  DOUBLE_QUOTE,
  isBlank,
  isDigit,
  isWordPart,
  MINUS,
  SINGLE_QUOTE,
  SLASH,
  SPACE,
  STAR,
} from '../../../shared/script/script-bytes.ts';

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

export interface LexicalState extends LexicalMode {
  /** After the beginning of a version comment: only there the server takes an asterisk and a slash for its end. */
  versioned: boolean;
}

interface Extent {
  kind: Token['kind'];
  end: number;
}

const BANG = 0x21;
const HASH = 0x23;
const LETTER_M = 0x4d;
const BACKQUOTE = 0x60;
const DELETE = 0x7f;

/**
 * Kind and end of the token at an offset, also of bytes as latin1: all that reads SQL of MySQL asks this function. An
 * unterminated quote or comment is a token of kind `open`, and the rest of the text.
 */
export function extentAt(sql: string, at: number, { ansiQuotes, plainBackslash, versioned }: LexicalState): Extent {
  const first = sql.charCodeAt(at);
  const next = sql.charCodeAt(at + 1);
  if (isBlank(first)) return { kind: 'space', end: endWhile(isBlank, sql, at + 1) };
  if (isWordPart(first)) return { kind: 'word', end: endWhile(isWordPart, sql, at + 1) };
  // A backslash is a plain character in names.
  const isName = first === BACKQUOTE || (first === DOUBLE_QUOTE && ansiQuotes);
  if (isName || first === DOUBLE_QUOTE || first === SINGLE_QUOTE) {
    const end = endOfQuote(sql, at, !isName && !plainBackslash);
    if (end === -1) return { kind: 'open', end: sql.length };
    return { kind: isName ? 'name' : 'text', end };
  }
  if (first === HASH) return lineComment(sql, at);
  if (first === MINUS && next === MINUS) {
    // Two minus signs begin a comment only before a blank or a control character.
    const behind = at + 2 < sql.length ? sql.charCodeAt(at + 2) : SPACE;
    if (behind <= SPACE || behind === DELETE) return lineComment(sql, at);
  }
  if (first === SLASH && next === STAR) {
    // Version comments are statements for the server.
    const bang = sql.charCodeAt(at + 2) === LETTER_M ? at + 3 : at + 2;
    if (sql.charCodeAt(bang) === BANG) return { kind: 'version', end: endOfVersion(sql, bang + 1) };
    const end = sql.indexOf('*/', at + 2);
    return end === -1 ? { kind: 'open', end: sql.length } : { kind: 'comment', end: end + 2 };
  }
  if (first === STAR && next === SLASH && versioned) return { kind: 'versionEnd', end: at + 2 };
  return { kind: 'other', end: at + 1 };
}

function endWhile(is: (code: number) => boolean, sql: string, from: number): number {
  let end = from;
  while (end < sql.length && is(sql.charCodeAt(end))) end += 1;
  return end;
}

/** -1 without an end. */
function endOfQuote(sql: string, at: number, escapes: boolean): number {
  const quote = sql.charCodeAt(at);
  for (let end = at + 1; end < sql.length; end += 1) {
    const code = sql.charCodeAt(end);
    if (code === BACKSLASH && escapes) end += 1;
    else if (code === quote && sql.charCodeAt(end + 1) === quote) end += 1;
    else if (code === quote) return end + 1;
  }
  return -1;
}

function lineComment(sql: string, at: number): Extent {
  const end = sql.indexOf('\n', at);
  return { kind: 'comment', end: end === -1 ? sql.length : end };
}

/** Five or six digits. */
function endOfVersion(sql: string, from: number): number {
  const digits = endWhile(isDigit, sql, from) - from;
  return digits < 5 ? from : from + Math.min(6, digits);
}

/** Version comments are open until their end. */
export function* tokensOf(sql: string, mode: LexicalMode = {}): Generator<Token> {
  const state = { ...mode, versioned: false };
  for (let at = 0; at < sql.length; ) {
    const { kind, end } = extentAt(sql, at, state);
    if (kind === 'version') state.versioned = true;
    if (kind === 'versionEnd') state.versioned = false;
    const text = sql.slice(at, end);
    yield { kind, text, value: kind === 'word' ? text.toUpperCase() : kind === 'name' ? unquoted(text) : text, at };
    at = end;
  }
}

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

export function isWord(token: Token | undefined, ...words: string[]): boolean {
  return token?.kind === 'word' && words.includes(token.value);
}
