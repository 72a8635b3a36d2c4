/** `copied`: the text of COPY and of LOAD DATA; `inserted`: INSERT statements of mysqldump. */
export type RowFormat = 'copied' | 'inserted';

export interface ScannedValue {
  bytes: Uint8Array;
  /** Bytes of the whole value. */
  length: number;
}

export interface ScannedRow {
  /** NULL is `null`; empty where no values were asked for. */
  values: (ScannedValue | null)[];
  /** Hash of all bytes of the row, as they are stored. */
  hash: number;
}

export interface RowScannerOptions {
  format: RowFormat;
  /** Bytes to keep of each value; 0 for hashes only. */
  mostBytes: number;
  /** The end of the file begins with an empty line, which is no row. */
  emptyEnd: boolean;
  /** Returns whether to go on. */
  onRow: (row: ScannedRow) => boolean;
}

/** Reads stored rows in pieces of any size; keeps the beginnings of the values of one row. */
export interface RowScanner {
  /** `false` when no more content is needed. */
  push(chunk: Uint8Array): boolean;
}

export function createRowScanner(options: RowScannerOptions): RowScanner {
  return options.format === 'copied' ? copiedRows(options) : insertedRows(options);
}

const TAB = 9;
const LINE_FEED = 10;
const SPACE = 32;
const QUOTE = 39;
const OPENING = 40;
const CLOSING = 41;
const COMMA = 44;
const DOT = 46;
const SEMICOLON = 59;
const BACKSLASH = 92;
const BACKTICK = 96;

/** Meanings of letters after a backslash, of those that do not stand for themselves. */
const ESCAPES = new Map(
  ['b\b', 'f\f', 'n\n', 'r\r', 't\t', 'v\v'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]),
);

function copiedRows({ mostBytes, emptyEnd, onRow }: RowScannerOptions): RowScanner {
  const row = createRow(mostBytes);
  let escaped = false;
  let isNull = false;
  let fieldBytes = 0;
  let lineBytes = 0;
  let isDot = false;
  let held: ScannedRow | null = null;
  let goesOn = true;

  function endValue(): void {
    row.endValue(isNull && fieldBytes === 2);
    isNull = false;
    fieldBytes = 0;
  }

  function endLine(): void {
    if (isDot && lineBytes === 2) {
      goesOn = false;
      return;
    }
    endValue();
    const ended = row.end();
    const isEmpty = lineBytes === 0;
    isDot = false;
    lineBytes = 0;
    if (held) goesOn = onRow(held);
    held = null;
    if (isEmpty && emptyEnd) held = ended;
    else if (goesOn) goesOn = onRow(ended);
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length && goesOn; at += 1) {
        const byte = chunk[at] as number;
        if (byte === LINE_FEED) {
          endLine();
          continue;
        }
        row.hash(byte);
        lineBytes += 1;
        if (escaped) {
          escaped = false;
          fieldBytes += 1;
          isNull = byte === 78 && fieldBytes === 2;
          isDot = byte === DOT && lineBytes === 2;
          row.add(ESCAPES.get(byte) ?? byte);
        } else if (byte === TAB) endValue();
        else {
          fieldBytes += 1;
          if (byte === BACKSLASH) escaped = true;
          else row.add(byte);
        }
      }
      return goesOn;
    },
  };
}

type State = 'head' | 'name' | 'between' | 'plain' | 'text' | 'text end' | 'escape';

/** The word before the rows, outside of names. */
const VALUES = 'VALUES';

function insertedRows({ mostBytes, onRow }: RowScannerOptions): RowScanner {
  const row = createRow(mostBytes);
  let state: State = 'head';
  let word = '';
  let plain = '';
  let isQuoted = false;
  let goesOn = true;

  function endValue(): void {
    row.endValue(!isQuoted && plain === 'NULL');
    plain = '';
    isQuoted = false;
  }

  function take(byte: number): void {
    if (state === 'head') {
      if (byte === BACKTICK) state = 'name';
      word = (word + String.fromCharCode(byte)).slice(-VALUES.length);
      if (word === VALUES) state = 'between';
    } else if (state === 'name') {
      if (byte === BACKTICK) state = 'head';
    } else if (state === 'between') {
      if (byte === OPENING) state = 'plain';
      else if (byte === SEMICOLON) state = 'head';
      word = '';
    } else if (state === 'text') {
      if (byte === BACKSLASH) state = 'escape';
      else if (byte === QUOTE) state = 'text end';
      else row.add(byte);
    } else if (state === 'escape') {
      row.add(byte === 48 ? 0 : (ESCAPES.get(byte) ?? byte));
      state = 'text';
    } else if (state === 'text end' && byte === QUOTE) {
      row.add(byte);
      state = 'text';
    } else if (byte === QUOTE) {
      // What came before is an introducer: `_binary `.
      row.clear();
      isQuoted = true;
      state = 'text';
    } else if (byte === COMMA || byte === CLOSING) {
      endValue();
      state = 'plain';
      if (byte === COMMA) return;
      state = 'between';
      goesOn = onRow(row.end());
    } else if (byte !== SPACE && state === 'plain') {
      row.add(byte);
      if (plain.length < 5) plain += String.fromCharCode(byte);
    }
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length && goesOn; at += 1) {
        const byte = chunk[at] as number;
        if (state !== 'head' && state !== 'name' && state !== 'between') row.hash(byte);
        take(byte);
      }
      return goesOn;
    },
  };
}

/** Two hashes of 32 bits, of which a number holds 53 together. */
const SEEDS = [0x811c9dc5, 0x9e3779b9] as const;

function createRow(mostBytes: number) {
  let values: (ScannedValue | null)[] = [];
  let bytes: number[] = [];
  let length = 0;
  let [first, second]: [number, number] = [...SEEDS];
  return {
    hash(byte: number): void {
      first = Math.imul(first ^ byte, 0x01000193);
      second = Math.imul(second ^ byte, 0x85ebca6b) ^ (second >>> 15);
    },
    add(byte: number): void {
      if (length < mostBytes) bytes.push(byte);
      length += 1;
    },
    clear(): void {
      bytes = [];
      length = 0;
    },
    endValue(isNull: boolean): void {
      if (mostBytes > 0) values.push(isNull ? null : { bytes: Uint8Array.from(bytes), length });
      bytes = [];
      length = 0;
    },
    end(): ScannedRow {
      const row = { values, hash: (first & 0x1fffff) * 2 ** 32 + (second >>> 0) };
      values = [];
      [first, second] = SEEDS;
      return row;
    },
  };
}

/** UTF-8 as it is, anything else in hexadecimal. */
export function valueText({ bytes, length }: ScannedValue): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: length > bytes.length });
  } catch {
    return `0x${Buffer.from(bytes.subarray(0, MOST_HEXADECIMAL)).toString('hex')}`;
  }
}

const MOST_HEXADECIMAL = 512;
