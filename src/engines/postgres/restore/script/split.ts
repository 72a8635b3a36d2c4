import {
  BACKSLASH,
  CARRIAGE_RETURN,
  DOLLAR,
  DOUBLE_QUOTE,
  isBlank,
  isDigit,
  isLetter,
  isWordPart,
  LINE_FEED,
  MINUS,
  SINGLE_QUOTE,
  SLASH,
  STAR,
} from '../../../shared/script/script-bytes.ts';
import { lineFrom, type ScriptSplitter, unterminated } from '../../../shared/script/split-script.ts';
import { MOST_WORD, StatementReader } from '../../../shared/script/statement-reader.ts';
import type { ScriptPosition } from '../../../shared/script/text-window.ts';
import { CopyRows } from './copy-rows.ts';
import { readCopy } from './copy-statement.ts';
import { assertOwnDatabase, assertSafeEncoding, standardStringsOf } from './file-settings.ts';

export interface SplitOptions {
  /** Reads the rows behind `COPY … FROM STDIN`, and takes over the settings of `SET`. */
  asFile?: boolean;
  /** Skips `\connect`, and passes statements for a database on, as `pg_dump --create` writes them. */
  ofDump?: boolean;
}

/**
 * Splits as the server's lexer, at semicolons outside quotes, comments, parentheses and bodies in standard SQL (BEGIN
 * ATOMIC … END). Of psql's commands only `\restrict` and `\unrestrict` are accepted, which pg_dump writes.
 * https://www.postgresql.org/docs/current/sql-syntax-lexical.html
 */
export function createSplitter({ asFile = false, ofDump = false }: SplitOptions = {}): ScriptSplitter {
  return new PostgresReader({ asFile, ofDump });
}

/** The end of a quoted part. */
type Quote = { kind: 'standard' | 'escaped' | 'name' } | { kind: 'dollar'; tag: Buffer };

const OPEN = 0x28;
const CLOSE = 0x29;
const SEMICOLON = 0x3b;

/** Number of words of a statement that are kept. */
const MOST_WORDS = 64;

class PostgresReader extends StatementReader {
  readonly #asFile: boolean;
  readonly #ofDump: boolean;
  #standardStrings = true;
  #parentheses = 0;
  #bodies = 0;
  #quote: Quote | null = null;
  /** Offsets of the quote and of the outermost parenthesis. */
  #quotedAt = 0;
  #parenthesisAt = 0;
  #commentedAt: ScriptPosition = { line: 1, column: 1 };
  /** A string that ended, which the next line may continue. */
  #ended: { quote: Quote; newLine: boolean } | null = null;
  #inLineComment = false;
  /** Number of open comments. */
  #comments = 0;
  #rows: CopyRows | null = null;

  constructor({ asFile, ofDump }: Required<SplitOptions>) {
    super();
    this.#asFile = asFile;
    this.#ofDump = ofDump;
  }

  protected override appended(chunk: Uint8Array, dropped: number): void {
    this.#quotedAt -= dropped;
    this.#parenthesisAt -= dropped;
    const nul = this.#asFile ? chunk.indexOf(0) : -1;
    if (nul !== -1) this.refuse(this.bytes.length - chunk.length + nul, 'a NUL character', NUL_HINT);
  }

  protected override finish(): void {
    if (this.#rows) this.#takeRows(this.#rows, true);
    if (this.#quote) this.#takeQuote(true);
    if (this.#comments > 0) this.#takeComment(true);
    if (this.#parentheses > 0) throw unterminated('parenthesis', this.text.position(this.#parenthesisAt));
    if (this.#bodies > 0 && this.begin) throw unterminated('function body', this.begin.position);
    this.#endStatement(this.bytes.length);
    if (this.#rows) this.#takeRows(this.#rows, true);
  }

  protected override takeNext(isEnd: boolean): boolean {
    if (this.#rows) return this.#takeRows(this.#rows, isEnd);
    if (this.#quote) return this.#takeQuote(isEnd);
    return this.#inLineComment || this.#comments > 0 ? this.#takeComment(isEnd) : this.#takeToken(isEnd);
  }

  #openQuote(opened: Quote, { from, to }: { from: number; to: number }): true {
    this.beginAt(from);
    this.#quote = opened;
    this.#quotedAt = from;
    this.at = to;
    return true;
  }

  #endStatement(end: number): void {
    if (this.begin) {
      this.number += 1;
      const { number, words } = this;
      const bytes = this.statementBytes(this.begin.at, end);
      const statement = { kind: 'statement' as const, number, ...this.begin.position, bytes, words, hasRows: false };
      if (this.#asFile) {
        if (!this.#ofDump) assertOwnDatabase(statement);
        assertSafeEncoding(statement);
        this.#standardStrings = standardStringsOf(statement) ?? this.#standardStrings;
      }
      const copy =
        this.#asFile && this.words[0] === 'COPY'
          ? readCopy(statement, { standardStrings: this.#standardStrings })
          : null;
      this.parts.push(copy ? { ...statement, bytes: copy, hasRows: true } : statement);
      if (copy) this.#rows = new CopyRows(this.begin.position);
    }
    this.begin = null;
    this.words = [];
    this.#parentheses = 0;
    this.#bodies = 0;
    this.#ended = null;
  }

  #takeRows(rows: CopyRows, isEnd: boolean): boolean {
    const taken = rows.take({ bytes: this.bytes, at: this.at, isEnd });
    if (taken.textAt !== null) {
      this.refuse(taken.textAt, 'text behind COPY … FROM STDIN', 'Begin the rows of COPY on the next line.');
    }
    this.at = taken.at;
    this.parts.push(...taken.parts);
    if (taken.isEnd) this.#rows = null;
    return taken.isEnd;
  }

  #takeComment(isEnd: boolean): boolean {
    if (this.#inLineComment) {
      while (
        this.at < this.bytes.length &&
        this.bytes[this.at] !== LINE_FEED &&
        this.bytes[this.at] !== CARRIAGE_RETURN
      )
        this.at += 1;
      if (this.at >= this.bytes.length) return false;
      this.#inLineComment = false;
      return true;
    }
    while (this.#comments > 0) {
      while (this.at < this.bytes.length && this.bytes[this.at] !== STAR && this.bytes[this.at] !== SLASH) this.at += 1;
      if (this.at + 1 >= this.bytes.length) {
        if (isEnd) throw unterminated('comment', this.#commentedAt);
        return false;
      }
      const isOpen = this.bytes[this.at] === SLASH && this.bytes[this.at + 1] === STAR;
      const isClose = this.bytes[this.at] === STAR && this.bytes[this.at + 1] === SLASH;
      this.at += isOpen || isClose ? 2 : 1;
      if (isOpen) this.#comments += 1;
      if (isClose) this.#comments -= 1;
    }
    return true;
  }

  #takeQuote(isEnd: boolean): boolean {
    if (!this.#quote) return true;
    const fail = (what: string): false => {
      if (isEnd) throw unterminated(what, this.text.position(this.#quotedAt));
      return false;
    };
    if (this.#quote.kind === 'dollar') {
      const { tag } = this.#quote;
      const found = this.bytes.subarray(this.at).indexOf(tag);
      if (found === -1) {
        this.at = Math.max(this.at, this.bytes.length - tag.length + 1);
        return fail('dollar quote');
      }
      this.at += found + tag.length;
      this.#quote = null;
      return true;
    }
    const end = this.#quote.kind === 'name' ? DOUBLE_QUOTE : SINGLE_QUOTE;
    const escapes = this.#quote.kind === 'escaped';
    for (let next = this.at; next < this.bytes.length; next += 1) {
      const byte = this.bytes[next];
      if (byte === end) {
        this.at = next + 1;
        // A doubled quote opens it again.
        this.#ended = { quote: this.#quote, newLine: false };
        this.#quote = null;
        return true;
      }
      if (byte !== BACKSLASH || !escapes) continue;
      if (next + 1 < this.bytes.length) next += 1;
      else {
        this.at = next;
        return fail('quote');
      }
    }
    this.at = this.bytes.length;
    return fail('quote');
  }

  #takeWord(isEnd: boolean): boolean {
    let next = this.at + 1;
    while (isWordPart(this.bytes[next] ?? 0)) next += 1;
    if (next - this.at > MOST_WORD) this.assertNotReservedWord();
    // The next byte may belong to it, or be the quote of its string.
    if (next >= this.bytes.length && !isEnd) return false;
    const isPrefix = this.bytes[next] === SINGLE_QUOTE && next - this.at < 3;
    if (this.begin && !isPrefix && this.words.length >= MOST_WORDS && this.#asFile && this.words[0] !== 'CREATE') {
      this.at = next;
      return true;
    }
    const word = this.bytes.toString('latin1', this.at, next).toUpperCase();
    if (isPrefix && STRING_PREFIXES.has(word)) {
      const isEscaped = word === 'E' || (word === 'N' && !this.#standardStrings);
      return this.#openQuote({ kind: isEscaped ? 'escaped' : 'standard' }, { from: this.at, to: next + 1 });
    }
    this.beginAt(this.at);
    this.at = next;
    if (this.words.length < MOST_WORDS || !this.#asFile) this.words.push(word);
    if (this.words[0] === 'CREATE' && this.#parentheses === 0 && DEFINES_ROUTINE.test(this.words.slice(0, 4).join(' ')))
      this.#bodies += bodyChange(word, this.#bodies);
    return true;
  }

  /** Consumes one token; `false` when more bytes are needed. */
  #takeToken(isEnd: boolean): boolean {
    const byte = this.bytes[this.at] ?? 0;
    if (isBlank(byte)) {
      if (this.#ended && (byte === LINE_FEED || byte === CARRIAGE_RETURN)) this.#ended.newLine = true;
      this.at += 1;
      return true;
    }
    if (byte === MINUS || byte === SLASH || byte === DOLLAR) {
      if (this.at + 1 >= this.bytes.length && !isEnd) return false;
      const next = this.bytes[this.at + 1];
      if (byte === MINUS && next === MINUS) {
        this.at += 2;
        this.#inLineComment = true;
        return true;
      }
      if (byte === SLASH && next === STAR) {
        this.#commentedAt = this.text.position(this.at);
        this.at += 2;
        this.#comments = 1;
        this.#ended = null;
        return true;
      }
    }
    if (byte === SINGLE_QUOTE || byte === DOUBLE_QUOTE) {
      const kind = byte === DOUBLE_QUOTE ? 'name' : this.#standardStrings ? 'standard' : 'escaped';
      const before = this.#ended;
      const isSame = before && (before.quote.kind === 'name') === (byte === DOUBLE_QUOTE);
      const continues = isSame && (this.bytes[this.at - 1] === byte || (before.newLine && byte === SINGLE_QUOTE));
      this.#ended = null;
      return this.#openQuote(continues ? before.quote : { kind }, { from: this.at, to: this.at + 1 });
    }
    this.#ended = null;
    if (byte === SEMICOLON && this.#parentheses === 0 && this.#bodies === 0) {
      this.#endStatement(this.at);
      this.at += 1;
      return true;
    }
    if (byte === BACKSLASH) return this.#takeCommand(isEnd);
    if (byte === DOLLAR) return this.#takeDollar(isEnd);
    if (isLetter(byte)) return this.#takeWord(isEnd);
    this.beginAt(this.at);
    if (byte === OPEN && this.#parentheses === 0) this.#parenthesisAt = this.at;
    if (byte === OPEN) this.#parentheses += 1;
    if (byte === CLOSE && this.#parentheses > 0) this.#parentheses -= 1;
    this.at += 1;
    return true;
  }

  #takeDollar(isEnd: boolean): boolean {
    let next = this.at + 1;
    if (isLetter(this.bytes[next] ?? 0)) {
      while (isLetter(this.bytes[next] ?? 0) || isDigit(this.bytes[next] ?? 0)) next += 1;
    }
    if (next - this.at > MOST_WORD) this.assertNotReservedWord();
    if (next >= this.bytes.length && !isEnd) return false;
    if (this.bytes[next] === DOLLAR) {
      const tag = Buffer.from(this.bytes.subarray(this.at, next + 1));
      return this.#openQuote({ kind: 'dollar', tag }, { from: this.at, to: next + 1 });
    }
    // A parameter: the name behind it is no tag.
    this.beginAt(this.at);
    this.at = next;
    return true;
  }

  #takeCommand(isEnd: boolean): boolean {
    const end = this.bytes.subarray(this.at).indexOf(LINE_FEED);
    if (end === -1 && !isEnd && this.bytes.length - this.at < MOST_WORD) return false;
    const { column } = this.text.position(this.at);
    const line = lineFrom(this.text, this.at);
    const isOfDump = OF_DUMPS.test(line) || (this.#ofDump && line.startsWith('\\connect '));
    if (this.#asFile && !this.begin && column === 1 && end !== -1 && isOfDump) {
      this.at += end;
      return true;
    }
    const command = /^\\\S*/.exec(line)?.[0] ?? '\\';
    return this.refuse(this.at, `${command} is a command of psql, not SQL`, 'Remove it: only SQL is run.');
  }
}

const NUL_HINT =
  'Is this a dump in the custom format? tool load runs SQL files; pg_restore --file=FILE.sql writes one.';

const STRING_PREFIXES = new Set(['E', 'N', 'B', 'X', 'U&']);

const OF_DUMPS = /^\\(?:un)?restrict [A-Za-z0-9]{1,128}$/;

const DEFINES_ROUTINE = /^CREATE (OR REPLACE )?(FUNCTION|PROCEDURE)\b/;

/** Counts like psql: BEGIN opens a body, and CASE in it needs its own END. */
function bodyChange(word: string, bodies: number): number {
  if (word === 'BEGIN' || (word === 'CASE' && bodies > 0)) return 1;
  return word === 'END' && bodies > 0 ? -1 : 0;
}
