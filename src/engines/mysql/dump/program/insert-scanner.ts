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
const NAMES = new RegExp(NAME, 'g');
const HEAD = new RegExp(`^INSERT INTO (${NAME})(?: \\((${NAME}(?:, ?${NAME})*)\\))? VALUES$`);

/** Bytes between values and of numbers, NULL, hexadecimal literals and introducers: no operators, no calls. */
const PLAIN = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-, \n') {
  PLAIN[letter.charCodeAt(0)] = 1;
}

type State = 'head' | 'name' | 'before row' | 'row' | 'text' | 'escape' | 'after row' | 'done';

export class InsertRefused extends Error {
  override readonly name = 'InsertRefused';
}

/**
 * Reads one INSERT of mysqldump byte by byte: literal rows of one table, nothing else. It prevents rows of a snapshot
 * from being other statements. It is not the lexer of `definitions/tokens.ts`: it keeps no byte of rows that may be
 * gigabytes, and refuses every token but literals, whose ends no mode but NO_BACKSLASH_ESCAPES changes.
 */
export class InsertScanner {
  table: string | null = null;
  /** None where the statement does not name them. */
  columns: string[] = [];
  rows = 0;
  /** Bytes of the longest row. */
  longest = 0;
  #state: State = 'head';
  #head = '';
  #length = 0;
  #minus = false;

  get done(): boolean {
    return this.#state === 'done';
  }

  /** Takes bytes until the end of the statement. Returns the offset behind them. */
  scan(block: Uint8Array, from: number): number {
    for (let at = from; at < block.length; at += 1) {
      const byte = block[at] as number;
      if (this.#state === 'text') {
        const start = at;
        while (at < block.length && block[at] !== QUOTE && block[at] !== BACKSLASH) at += 1;
        this.#length += Math.min(at + 1, block.length) - start;
        if (block[at] === BACKSLASH) this.#state = 'escape';
        else if (block[at] === QUOTE) this.#state = 'row';
      } else if (this.#state === 'row') {
        const start = at;
        // Two of them would begin a comment.
        while (at < block.length && PLAIN[block[at] as number] === 1 && !(this.#minus && block[at] === MINUS)) {
          this.#minus = block[at] === MINUS;
          at += 1;
        }
        this.#length += Math.min(at + 1, block.length) - start;
        if (at === block.length) return at;
        this.#minus = false;
        if (block[at] === QUOTE) this.#state = 'text';
        else if (block[at] === CLOSING) {
          this.#state = 'after row';
          this.rows += 1;
          this.longest = Math.max(this.longest, this.#length);
        } else throw refusedByte(block[at] as number);
      } else if (this.#state === 'escape') {
        this.#length += 1;
        this.#state = 'text';
      } else if (this.#state === 'head' || this.#state === 'name') {
        if (this.#head.length >= MOST_HEAD_BYTES) throw new InsertRefused('its beginning is too long');
        this.#head += String.fromCharCode(byte);
        if (byte === BACKTICK) this.#state = this.#state === 'head' ? 'name' : 'head';
        else if (this.#state === 'head' && byte === LETTER_S && this.#endsHead()) this.#state = 'before row';
      } else if (this.#state === 'before row') {
        if (byte === OPENING) {
          this.#state = 'row';
          this.#length = 1;
          this.#minus = false;
        } else if (byte !== NEWLINE && byte !== 32) throw refusedByte(byte);
      } else if (byte === COMMA) {
        this.#state = 'before row';
      } else if (byte === SEMICOLON) {
        this.#state = 'done';
        return at + 1;
      } else if (byte !== NEWLINE && byte !== 32) {
        throw refusedByte(byte);
      }
    }
    return block.length;
  }

  #endsHead(): boolean {
    if (!this.#head.endsWith(' VALUES')) return false;
    const [, name, list = ''] = HEAD.exec(this.#head) ?? [];
    if (name === undefined) throw new InsertRefused('its beginning is not that of an INSERT of values');
    this.table = plainName(name);
    this.columns = (list.match(NAMES) ?? []).map(plainName);
    return true;
  }
}

function plainName(quoted: string): string {
  return Buffer.from(quoted.slice(1, -1).replaceAll('``', '`'), 'latin1').toString('utf8');
}

function refusedByte(byte: number): InsertRefused {
  return new InsertRefused(`the byte 0x${byte.toString(16).padStart(2, '0')} is part of no literal`);
}
