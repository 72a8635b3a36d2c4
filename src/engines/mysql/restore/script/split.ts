import { BACKSLASH, isDigit, isWordPart, SLASH, STAR } from '../../../shared/script/script-bytes.ts';
import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import {
  lineFrom,
  type ScriptRows,
  type ScriptSplitter,
  type ScriptStatement,
  unterminated,
} from '../../../shared/script/split-script.ts';
import { MOST_WORD, StatementReader } from '../../../shared/script/statement-reader.ts';
import type { ScriptPosition } from '../../../shared/script/text-window.ts';
import { extentAt, type LexicalState, type Token } from '../../catalog/definitions/tokens.ts';
import { InsertScanner } from '../../dump/program/insert-scanner.ts';
import { followModes } from './sql-mode.ts';

export interface MysqlStatement extends ScriptStatement {
  /** For each word, `true` when it is in a version comment, which the server may skip. */
  isOptional: boolean[];
  isDelimited: boolean;
}

/** Rows of one statement; `insert` tells what it has read so far. */
export interface InsertedRows extends ScriptRows {
  insert: InsertScanner;
}

export interface SplitOptions {
  /** Throws for a statement that must not run; returns the one that runs instead, if any. */
  accept?: (statement: MysqlStatement) => MysqlStatement | null;
  /** The `sql_mode` at the beginning of the script. */
  sqlMode?: string;
  /** Number of words of a statement that are kept, from the first on that no server skips; default: all. */
  mostWords?: number;
  /** Statements that begin with `INSERT INTO` are literal rows, as of mysqldump, and come as `InsertedRows`. */
  inserts?: boolean;
}

/**
 * Splits at delimiters between the tokens of the server's lexer. Of the client's commands only DELIMITER is
 * accepted. https://dev.mysql.com/doc/refman/en/lexical-structure.html
 */
export function createSplitter(options: SplitOptions = {}): ScriptSplitter {
  return new MysqlReader(options);
}

const INSERT = 'INSERT INTO ';
/** Longer than the sandbox line, a DELIMITER line and what the end of a token depends on. */
const READ_AHEAD = 256;
/** mariadb-dump begins with it: its client then refuses commands. */
const SANDBOX = /^\/\*M?!999999\\- enable the sandbox mode \*\//;
const DELIMITER = /^delimiter(?:[ \t]+([^\r\n]*))?(?=[\r\n]|$)/i;
/** Not the beginning of a quote, a comment or a word of SQL. */
const DELIMITERS = /^(?:[;$|/@^~!%&+=?:]{1,15}|[A-Za-z_]{1,15})$/;

class MysqlReader extends StatementReader {
  readonly #accept: NonNullable<SplitOptions['accept']>;
  readonly #mostWords: number;
  readonly #inserts: boolean;
  readonly #modes;
  #state: LexicalState;
  #delimiter = ';';
  #isOptional: boolean[] = [];
  /** Kept words from the first on that no server skips: where it skips those before, the statement begins there. */
  #required = 0;
  #version: { position: ScriptPosition; from: number; nests: boolean } | null = null;
  #insert: InsertScanner | null = null;
  /** The bytes from an offset on, as latin1. */
  #sql: { text: string; from: number } | null = null;
  /** A token has no end in fewer bytes. */
  #wanted = 0;

  constructor(options: SplitOptions) {
    super();
    const { accept = (statement) => statement, sqlMode = '', mostWords = Number.POSITIVE_INFINITY, inserts } = options;
    this.#accept = accept;
    this.#mostWords = mostWords;
    this.#inserts = inserts ?? false;
    this.#modes = followModes(sqlMode);
    this.#state = { ...this.#modes.first, versioned: false };
  }

  protected override appended(_chunk: Uint8Array, dropped: number): void {
    this.#sql = null;
    if (this.#version) this.#version.from -= dropped;
  }

  protected override finish(): void {
    if (this.#insert) throw unterminated('statement', this.text.position(this.at));
    this.#endStatement(this.bytes.length, false);
  }

  /** Consumes one token; `false` when more bytes are needed, since the bytes behind a token may change it. */
  protected override takeNext(isEnd: boolean): boolean {
    if (this.#insert) return this.#takeRows(this.#insert);
    const left = this.bytes.length - this.at;
    if (!isEnd && left < Math.max(READ_AHEAD, this.#wanted)) return false;
    this.#sql ??= { text: this.bytes.toString('latin1', this.at), from: this.at };
    const { text, from } = this.#sql;
    const at = this.at - from;
    if (text.startsWith(this.#delimiter, at)) {
      this.#endStatement(this.at, true);
      this.at += this.#delimiter.length;
      return true;
    }
    if (this.#inserts && !this.begin && !this.#state.plainBackslash && text.startsWith(INSERT, at)) {
      return this.#takeRows(new InsertScanner());
    }
    const { kind, end } = extentAt(text, at, this.#state);
    if (kind === 'word' && end - at > MOST_WORD) this.assertNotReservedWord();
    if (!isEnd && end + READ_AHEAD > text.length) {
      // Twice as many, so that a long token is not read again with each chunk.
      this.#wanted = 2 * left;
      return false;
    }
    this.#wanted = 0;
    this.at = this.#take(kind, from + end);
    return true;
  }

  /** The end of what was consumed. */
  #take(kind: Token['kind'], end: number): number {
    switch (kind) {
      case 'space':
      case 'comment':
        break;
      case 'open':
        throw unterminated(this.bytes[this.at] === SLASH ? 'comment' : 'quote', this.text.position(this.at));
      case 'version':
        return this.#takeVersion(end);
      case 'versionEnd':
        this.#endVersion();
        break;
      case 'word':
        return this.#takeWord(end);
      default:
        if (this.bytes[this.at] === BACKSLASH) this.#throwClientCommand();
        this.beginAt(this.at);
    }
    return end;
  }

  #endStatement(end: number, isDelimited: boolean): void {
    if (this.#version) throw unterminated('version comment', this.#version.position);
    if (this.begin) {
      this.number += 1;
      const { number, words } = this;
      const bytes = this.statementBytes(this.begin.at, end);
      const statement: MysqlStatement = {
        kind: 'statement',
        ...{ number, ...this.begin.position, bytes, words, isOptional: this.#isOptional, hasRows: false, isDelimited },
      };
      this.#state = { ...this.#modes.after(statement), versioned: false };
      const accepted = this.#accept(statement);
      if (accepted) this.parts.push(accepted);
    }
    this.begin = null;
    this.words = [];
    this.#isOptional = [];
    this.#required = 0;
  }

  #head(): string {
    return this.bytes.toString('latin1', this.at, this.at + READ_AHEAD);
  }

  #takeVersion(end: number): number {
    const head = this.#head();
    const sandbox = this.begin ? null : SANDBOX.exec(head);
    if (sandbox) return this.at + sandbox[0].length;
    if (this.#version)
      this.refuse(this.at, 'a version comment within a version comment', 'Write it without the comment.');
    this.beginAt(this.at);
    const nests = head.startsWith('/*!');
    this.#version = { position: this.text.position(this.at), from: this.at + (nests ? 3 : 4), nests };
    this.#state.versioned = true;
    return end;
  }

  /** A server that skips the comment must find the same end. */
  #endVersion(): void {
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
    this.#state.versioned = false;
  }

  #takeWord(whole: number): number {
    // The client accepts a delimiter anywhere outside quotes, as in END$$.
    const mayCut = isWordPart(this.#delimiter.charCodeAt(0));
    const cut = mayCut ? this.bytes.subarray(this.at, whole).indexOf(this.#delimiter, 0, 'latin1') : -1;
    const end = cut === -1 ? whole : this.at + cut;
    const isNumber = isDigit(this.bytes[this.at] ?? 0);
    if (!this.begin || (this.#required < this.#mostWords && !isNumber)) {
      const word = this.bytes.toString('latin1', this.at, end).toUpperCase();
      if (word === 'DELIMITER' && !this.begin) return this.#takeDelimiter();
      this.beginAt(this.at);
      if (!isNumber) {
        this.words.push(word);
        this.#isOptional.push(this.#version !== null);
        if (this.#version === null || this.#required > 0) this.#required += 1;
      }
    }
    return end;
  }

  #takeDelimiter(): number {
    const given = DELIMITER.exec(this.#head());
    const found = given?.[1]?.trim() ?? '';
    if (!given || !DELIMITERS.test(found))
      this.refuse(
        this.at,
        `DELIMITER with an unknown delimiter: ${lineFrom(this.text, this.at)}`,
        'Write DELIMITER // or DELIMITER ;;',
      );
    this.#delimiter = found;
    return this.at + given[0].length;
  }

  #throwClientCommand(): never {
    const command = /^\\\S?/.exec(lineFrom(this.text, this.at))?.[0] ?? '\\';
    return this.refuse(this.at, `${command} is a command of the client, not SQL`, 'Remove it: only SQL is run.');
  }

  /** Rows are handed on as they come, when their table is known; its name is read again with more bytes. */
  #takeRows(insert: InsertScanner): boolean {
    const end = insert.scan(this.bytes, this.at);
    if (insert.table === null) {
      this.#wanted = 2 * (this.bytes.length - this.at);
      return false;
    }
    const rows: InsertedRows = { kind: 'rows', bytes: this.bytes.subarray(this.at, end), isLast: insert.done, insert };
    this.parts.push(rows);
    this.#insert = insert.done ? null : insert;
    this.#wanted = 0;
    this.at = end;
    return true;
  }
}

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
