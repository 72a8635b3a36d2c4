const NEWLINE = 10;
const QUOTE = 39;
const OPENING = 40;
const CLOSING = 41;
const COMMA = 44;
const MINUS = 45;
const SEMICOLON = 59;
const BACKSLASH = 92;
const BACKTICK = 96;
const LETTER_S = 83;

const MOST_HEAD_BYTES = 1024 * 1024;
const NAME = '`(?:[^`]|``)+`';
const HEAD = new RegExp(`^INSERT INTO (${NAME})(?: \\(${NAME}(?:, ?${NAME})*\\))? VALUES$`);

/** Bytes between values and of numbers, NULL, hexadecimal literals and introducers: no operators, no calls. */
const PLAIN = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-, \n') {
  PLAIN[letter.charCodeAt(0)] = 1;
}

type State = 'head' | 'name' | 'before row' | 'row' | 'text' | 'escape' | 'after row' | 'done';

/**
 * Reads one INSERT of mysqldump byte by byte: literal rows of one table, nothing else. It prevents rows of a snapshot
 * from being other statements. It is not the lexer of `definitions/tokens.ts`: it keeps no byte of rows that may be
 * gigabytes, and refuses every token but literals, whose ends no mode but NO_BACKSLASH_ESCAPES changes.
 */
export interface InsertScanner {
  scan(block: Uint8Array, from: number): number;
  readonly done: boolean;
  readonly table: string | null;
  readonly rows: number;
  readonly longest: number;
}

export class InsertRefused extends Error {
  override readonly name = 'InsertRefused';
}

export function createInsertScanner(): InsertScanner {
  let state: State = 'head';
  let head = '';
  let table: string | null = null;
  let rows = 0;
  let longest = 0;
  let length = 0;
  let minus = false;

  function endOfHead(): boolean {
    if (!head.endsWith(' VALUES')) return false;
    const name = HEAD.exec(head)?.[1];
    if (name === undefined) throw new InsertRefused('its beginning is not that of an INSERT of values');
    table = Buffer.from(name.slice(1, -1).replaceAll('``', '`'), 'latin1').toString('utf8');
    return true;
  }

  function scan(block: Uint8Array, from: number): number {
    for (let at = from; at < block.length; at += 1) {
      const byte = block[at] as number;
      if (state === 'text') {
        length += 1;
        if (byte === BACKSLASH) state = 'escape';
        else if (byte === QUOTE) state = 'row';
      } else if (state === 'row') {
        length += 1;
        if (byte === QUOTE) state = 'text';
        else if (byte === CLOSING) {
          state = 'after row';
          rows += 1;
          longest = Math.max(longest, length);
        } else if (PLAIN[byte] === 0 || (minus && byte === MINUS)) throw refusedByte(byte);
        minus = byte === MINUS;
      } else if (state === 'escape') {
        length += 1;
        state = 'text';
      } else if (state === 'head' || state === 'name') {
        if (head.length >= MOST_HEAD_BYTES) throw new InsertRefused('its beginning is too long');
        head += String.fromCharCode(byte);
        if (byte === BACKTICK) state = state === 'head' ? 'name' : 'head';
        else if (state === 'head' && byte === LETTER_S && endOfHead()) state = 'before row';
      } else if (state === 'before row') {
        if (byte === OPENING) {
          state = 'row';
          length = 1;
          minus = false;
        } else if (byte !== NEWLINE && byte !== 32) throw refusedByte(byte);
      } else if (byte === COMMA) {
        state = 'before row';
      } else if (byte === SEMICOLON) {
        state = 'done';
        return at + 1;
      } else if (byte !== NEWLINE && byte !== 32) {
        throw refusedByte(byte);
      }
    }
    return block.length;
  }

  return {
    scan,
    get done() {
      return state === 'done';
    },
    get table() {
      return table;
    },
    get rows() {
      return rows;
    },
    get longest() {
      return longest;
    },
  };
}

function refusedByte(byte: number): InsertRefused {
  return new InsertRefused(`the byte 0x${byte.toString(16).padStart(2, '0')} is part of no literal`);
}
