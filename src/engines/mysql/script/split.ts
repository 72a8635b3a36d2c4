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
} from '../../shared/script/script-bytes.ts';
import { ScriptProblem } from '../../shared/script/script-problem.ts';
import { lineFrom, type ScriptSplitter, type ScriptStatement, unterminated } from '../../shared/script/split-script.ts';
import { MOST_WORD, StatementReader } from '../../shared/script/statement-reader.ts';
import type { Position } from '../../shared/script/text-window.ts';
import { followModes } from './sql-mode.ts';

export interface MysqlStatement extends ScriptStatement {
  /** Tells for each word whether it is in a version comment, which the server may skip. */
  isOptional: boolean[];
}

export interface SplitOptions {
  /** Throws for a statement that must not run; returns the one that runs instead. */
  accept?: (statement: MysqlStatement) => MysqlStatement;
  /** The `sql_mode` at the beginning of the script. */
  sqlMode?: string;
  /** Number of words of a statement that are kept; default: all. */
  mostWords?: number;
}

/**
 * Splits as the server's lexer, at delimiters outside quotes and comments. Of the client's commands only DELIMITER is
 * accepted. https://dev.mysql.com/doc/refman/en/lexical-structure.html
 */
export function createSplitter(options: SplitOptions = {}): ScriptSplitter {
  return new MysqlReader(options);
}

const HASH = 0x23;
const BACKQUOTE = 0x60;
/** Longer than the sandbox line and a DELIMITER line. */
const READ_AHEAD = 256;
/** mariadb-dump begins with it: its client then refuses commands. */
const SANDBOX = /^\/\*M?!999999\\- enable the sandbox mode \*\//;
const DELIMITER = /^delimiter(?:[ \t]+([^\r\n]*))?(?=[\r\n]|$)/i;
/** Not the beginning of a quote, a comment or a word of SQL. */
const DELIMITERS = /^(?:[;$|/@^~!%&+=?:]{1,15}|[A-Za-z_]{1,15})$/;

class MysqlReader extends StatementReader {
  readonly #accept: (statement: MysqlStatement) => MysqlStatement;
  readonly #mostWords: number;
  readonly #modes;
  #mode;
  #delimiter = Buffer.from(';');
  #isOptional: boolean[] = [];
  #quote: { end: number; escapes: boolean } | null = null;
  #quotedAt = 0;
  #comment: 'line' | 'block' | null = null;
  #commentedAt: Position = { line: 1, column: 1 };
  #version: { position: Position; from: number; nests: boolean } | null = null;

  constructor({ accept = (statement) => statement, sqlMode = '', mostWords = Number.POSITIVE_INFINITY }: SplitOptions) {
    super();
    this.#accept = accept;
    this.#mostWords = mostWords;
    this.#modes = followModes(sqlMode);
    this.#mode = this.#modes.first;
  }

  protected override appended(_chunk: Uint8Array, dropped: number): void {
    this.#quotedAt -= dropped;
    if (this.#version) this.#version.from -= dropped;
  }

  protected override finish(): void {
    if (this.#quote) this.#takeQuote(true);
    if (this.#comment === 'block') this.#takeComment(true);
    this.#endStatement(this.length);
  }

  protected override takeNext(isEnd: boolean): boolean {
    if (this.#quote) return this.#takeQuote(isEnd);
    return this.#comment ? this.#takeComment(isEnd) : this.#takeToken(isEnd);
  }

  #endStatement(end: number): void {
    if (this.#version) throw unterminated('version comment', this.#version.position);
    if (this.begin) {
      this.number += 1;
      const { number, words } = this;
      const bytes = this.statementBytes(this.begin.at, end);
      const statement: MysqlStatement = {
        kind: 'statement',
        ...{ number, ...this.begin.position, bytes, words, isOptional: this.#isOptional, hasRows: false },
      };
      this.#mode = this.#modes.after(statement);
      this.parts.push(this.#accept(statement));
    }
    this.begin = null;
    this.words = [];
    this.#isOptional = [];
  }

  /** `false` when more bytes are needed; a quote or block comment without an end is an error at the end. */
  #takeQuote(isEnd: boolean): boolean {
    if (!this.#quote) return true;
    const { end, escapes } = this.#quote;
    let next = this.at;
    for (; next < this.length; next += 1) {
      const byte = this.bytes[next];
      if (byte === end) {
        this.at = next + 1;
        this.#quote = null;
        return true;
      }
      if (byte !== BACKSLASH || !escapes) continue;
      if (next + 1 >= this.length) break;
      next += 1;
    }
    this.at = next;
    if (isEnd) throw unterminated('quote', this.text.position(this.#quotedAt));
    return false;
  }

  #takeComment(isEnd: boolean): boolean {
    const found = this.bytes.subarray(this.at, this.length).indexOf(this.#comment === 'line' ? '\n' : '*/');
    if (found !== -1) {
      this.at += found + (this.#comment === 'line' ? 1 : 2);
      this.#comment = null;
      return true;
    }
    if (isEnd && this.#comment === 'block') throw unterminated('comment', this.#commentedAt);
    this.at = this.#comment === 'line' || isEnd ? this.length : Math.max(this.at, this.length - 1);
    return false;
  }

  #takeSlash(isEnd: boolean): boolean {
    if (this.length - this.at < READ_AHEAD && !isEnd) return false;
    const head = this.bytes.toString('latin1', this.at, Math.min(this.length, this.at + READ_AHEAD));
    const sandbox = this.begin ? null : SANDBOX.exec(head);
    if (sandbox) {
      this.at += sandbox[0].length;
      return true;
    }
    const opening = /^\/\*(M?!)?/.exec(head);
    if (!opening) return this.#takeOther();
    if (opening[1] !== undefined) {
      if (this.#version)
        this.refuse(this.at, 'a version comment within a version comment', 'Write it without the comment.');
      this.beginAt(this.at);
      this.#version = {
        position: this.text.position(this.at),
        from: this.at + opening[0].length,
        nests: opening[1] === '!',
      };
    } else {
      this.#commentedAt = this.text.position(this.at);
      this.#comment = 'block';
    }
    this.at += opening[0].length;
    return true;
  }

  /** A server that skips the comment must find the same end. */
  #endVersion(): true {
    if (
      this.#version &&
      skippedEnd(this.bytes.subarray(this.#version.from, this.at + 2), this.#version.nests) !==
        this.at + 2 - this.#version.from
    ) {
      throw new ScriptProblem('a version comment whose end depends on the version of the server', {
        position: this.#version.position,
        hint: 'Write it without the comment, or without */ and /* in it.',
      });
    }
    this.#version = null;
    this.at += 2;
    return true;
  }

  #takeWord(isEnd: boolean): boolean {
    let next = this.at + 1;
    while (next < this.length && isWordPart(this.bytes[next] ?? 0)) next += 1;
    if (next - this.at > MOST_WORD) this.refuseWord();
    if (next >= this.length && !isEnd) return false;
    // The client accepts a delimiter anywhere outside quotes, as in END$$.
    const cut = isWordPart(this.#delimiter[0] ?? 0) ? this.bytes.subarray(this.at, next).indexOf(this.#delimiter) : -1;
    const end = cut === -1 ? next : this.at + cut;
    if (this.begin && (this.words.length >= this.#mostWords || isDigit(this.bytes[this.at] ?? 0))) {
      this.at = end;
      return true;
    }
    const word = this.bytes.toString('latin1', this.at, end).toUpperCase();
    if (word === 'DELIMITER' && !this.begin) return this.#takeDelimiter(isEnd);
    this.beginAt(this.at);
    this.at = end;
    if (/^\d/.test(word)) return true;
    this.words.push(word);
    this.#isOptional.push(this.#version !== null);
    return true;
  }

  #takeDelimiter(isEnd: boolean): boolean {
    if (this.length - this.at < READ_AHEAD && !isEnd) return false;
    const head = this.bytes.toString('latin1', this.at, Math.min(this.length, this.at + READ_AHEAD));
    const given = DELIMITER.exec(head);
    const found = given?.[1]?.trim() ?? '';
    if (!given || !DELIMITERS.test(found))
      this.refuse(
        this.at,
        `DELIMITER with an unknown delimiter: ${lineFrom(this.text, this.at)}`,
        'Write DELIMITER // or DELIMITER ;;',
      );
    this.#delimiter = Buffer.from(found);
    this.at += given[0].length;
    return true;
  }

  #takeOther(): true {
    this.beginAt(this.at);
    this.at += 1;
    return true;
  }

  /** Consumes one token; `false` when more bytes are needed. */
  #takeToken(isEnd: boolean): boolean {
    const byte = this.bytes[this.at] ?? 0;
    if (isBlank(byte)) {
      this.at += 1;
      return true;
    }
    if (byte === this.#delimiter[0]) {
      if (this.length - this.at < this.#delimiter.length && !isEnd) return false;
      if (
        this.bytes.subarray(this.at, Math.min(this.length, this.at + this.#delimiter.length)).equals(this.#delimiter)
      ) {
        this.#endStatement(this.at);
        this.at += this.#delimiter.length;
        return true;
      }
    }
    if (isWordPart(byte)) return this.#takeWord(isEnd);
    switch (byte) {
      case SINGLE_QUOTE:
      case DOUBLE_QUOTE:
      case BACKQUOTE: {
        const isName = byte === BACKQUOTE || (byte === DOUBLE_QUOTE && this.#mode.ansiQuotes === true);
        this.beginAt(this.at);
        this.#quote = { end: byte, escapes: !isName && !this.#mode.plainBackslash };
        this.#quotedAt = this.at;
        this.at += 1;
        return true;
      }
      case HASH:
        this.#comment = 'line';
        this.at += 1;
        return true;
      case MINUS: {
        if (this.length - this.at < 3 && !isEnd) return false;
        const behind = this.at + 2 < this.length ? (this.bytes[this.at + 2] ?? 0) : SPACE;
        // Two minus signs begin a comment only before a blank or a control character.
        if (this.bytes[this.at + 1] !== MINUS || this.at + 1 >= this.length || !(behind <= SPACE || behind === DELETE))
          return this.#takeOther();
        this.#comment = 'line';
        this.at += 2;
        return true;
      }
      case SLASH:
        return this.#takeSlash(isEnd);
      case STAR:
        if (this.length - this.at < 2 && !isEnd) return false;
        return this.#version && this.bytes[this.at + 1] === SLASH && this.at + 1 < this.length
          ? this.#endVersion()
          : this.#takeOther();
      case BACKSLASH: {
        if (this.length - this.at < READ_AHEAD && !isEnd) return false;
        const command = /^\\\S?/.exec(lineFrom(this.text, this.at))?.[0] ?? '\\';
        return this.refuse(this.at, `${command} is a command of the client, not SQL`, 'Remove it: only SQL is run.');
      }
      default:
        return this.#takeOther();
    }
  }
}

const DELETE = 0x7f;

/** Finds the end of a version comment that a server skips; other versions read nested comments in it. */
function skippedEnd(bytes: Buffer, nests: boolean): number {
  let isNested = false;
  for (let at = 0; at + 1 < bytes.length; at += 1) {
    const isClose = bytes[at] === STAR && bytes[at + 1] === SLASH;
    if (isClose && !isNested) return at + 2;
    const isOpen = nests && !isNested && bytes[at] === SLASH && bytes[at + 1] === STAR;
    if (isClose) isNested = false;
    if (isOpen) isNested = true;
    if (isClose || isOpen) at += 1;
  }
  return -1;
}
