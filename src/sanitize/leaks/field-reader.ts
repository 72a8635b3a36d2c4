import { isUtf8 } from 'node:buffer';
import type { FieldPiece } from './stored-fields.ts';
import type { WordReader } from './word-reader.ts';

/** Feeds stored values into a reader of words, whatever their type. */
export interface FieldReader {
  /** `true` with the last piece of a value. */
  read(piece: FieldPiece): boolean;
  /** Returns the text as it was read. */
  readText(text: string): string;
  /** The piece as text; of binary columns their content. */
  textOf(piece: FieldPiece): string;
}

const PERCENT = 37;
const AMPERSAND = 38;
const BACKSLASH = 92;
const LETTER_X = 120;
export const STRUCTURES = new Uint8Array(256).map((_, byte) => ('{[("<'.includes(String.fromCharCode(byte)) ? 1 : 0));
/** Text in another character set; longer ones are pictures and the like. */
const LONGEST_LATIN = 4096;

export function createFieldReader(reader: WordReader): FieldReader {
  let units = new Uint16Array(4096);
  let isHex = false;
  let isStructured = false;

  function feedText(text: string): string {
    const decoded = withoutEncodings(text, { isStructured });
    const plain = decoded.normalize('NFC').toLowerCase();
    if (plain.length > units.length) units = new Uint16Array(plain.length * 2);
    for (let at = 0; at < plain.length; at += 1) units[at] = plain.charCodeAt(at);
    reader.feed(units, 0, plain.length);
    return decoded;
  }

  function isEncoded(bytes: Uint8Array): boolean {
    return bytes.includes(PERCENT) || bytes.includes(AMPERSAND) || (isStructured && bytes.includes(BACKSLASH));
  }

  function feedBytes(bytes: Uint8Array, from: number, to: number): void {
    let all = 0;
    for (let at = from; at < to; at += 1) all |= bytes[at] as number;
    if (all < 128 && !isEncoded(bytes.subarray(from, to))) {
      reader.feed(bytes, from, to);
      return;
    }
    feedText(decode(bytes.subarray(from, to)));
  }

  function begin(bytes: Uint8Array, from: number, to: number): void {
    isStructured = STRUCTURES[bytes[from] as number] === 1;
    reader.begin(isStructured);
    feedBytes(bytes, from, to);
  }

  return {
    read({ bytes, from, to, isFirst, isLast, isPlain }) {
      if (isPlain && isFirst && isLast) {
        reader.begin(STRUCTURES[bytes[from] as number] === 1);
        reader.feedPlain(bytes, from, to);
        reader.end();
        return true;
      }
      if (isFirst) isHex = isHexadecimal(bytes, from, to);
      if (isHex) {
        const content = Buffer.from(
          Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1', isFirst ? 2 : 0),
          'hex',
        );
        if (isFirst) begin(content, 0, content.length);
        else feedBytes(content, 0, content.length);
      } else if (isFirst) begin(bytes, from, to);
      else feedBytes(bytes, from, to);
      if (isLast) reader.end();
      return isLast;
    },
    readText(text) {
      isStructured = STRUCTURES[text.charCodeAt(0)] === 1;
      reader.begin(isStructured);
      const read = feedText(text);
      reader.end();
      return read;
    },
    textOf({ bytes, from, to }) {
      const content = isHexadecimal(bytes, from, to)
        ? Buffer.from(Buffer.from(bytes.subarray(from + 2, to)).toString('latin1'), 'hex')
        : bytes.subarray(from, to);
      return withoutEncodings(decode(content), { isStructured: STRUCTURES[content[0] as number] === 1 });
    },
  };
}

/** The text of a `bytea`: `\x68656c6c6f`. */
function isHexadecimal(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from < 4 || bytes[from] !== BACKSLASH || bytes[from + 1] !== LETTER_X) return false;
  for (let at = from + 2; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (!((byte >= 48 && byte <= 57) || (byte >= 97 && byte <= 102))) return false;
  }
  return true;
}

function decode(bytes: Uint8Array): string {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (isUtf8(whole)) return whole.toString('utf8');
  const inner = whole.subarray(...withinLetters(whole));
  if (whole.length > LONGEST_LATIN && isUtf8(inner)) return inner.toString('utf8');
  if (whole.length <= LONGEST_LATIN) return whole.toString('latin1');
  return Buffer.from(whole.map((byte) => (byte < 128 ? byte : 32))).toString('latin1');
}

/** Without parts of letters at either end of a piece. */
function withinLetters(bytes: Uint8Array): [from: number, to: number] {
  let from = 0;
  while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  let to = bytes.length;
  while (bytes.length - to < 3 && (bytes[to - 1] ?? 0) >= 0x80) {
    to -= 1;
    if ((bytes[to] ?? 0) >= 0xc0) break;
  }
  return [from, to];
}

/** Decodes the escapes of URLs (`%40`), XML (`&#64;`) and structured texts. */
function withoutEncodings(text: string, { isStructured }: { isStructured: boolean }): string {
  let plain = isStructured && text.includes('\\') ? withoutEscapes(text) : text;
  if (plain.includes('%')) plain = plain.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (run) => ofHex(run.replaceAll('%', '')));
  return plain.includes('&') ? withoutReferences(plain) : plain;
}

/** JSON and arrays: `\u00e9`, `\n`, `\"`; a `bytea` in them, with a backslash more for each level. */
function withoutEscapes(text: string): string {
  return text.replaceAll(
    /\\{1,16}x((?:[0-9a-f]{2}){4,})|\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, ...[hex, unit, letter]: (string | undefined)[]) => {
      if (hex !== undefined) return ofHex(hex);
      if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
      return letter === undefined || 'bfnrt"\\/'.includes(letter) ? '\u{2028}' : letter;
    },
  );
}

function ofHex(digits: string): string {
  return decode(Buffer.from(digits, 'hex'));
}

const LAST_CODE_POINT = 0x10ffff;

function withoutReferences(text: string): string {
  return text.replaceAll(
    /&(?:#(?:([0-9]{1,7})|[xX]([0-9a-fA-F]{1,6}))|(?:amp|lt|gt|quot|apos|nbsp));/g,
    (reference, decimal?: string, hex?: string) => {
      if (decimal === undefined && hex === undefined) return ' ';
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : reference;
    },
  );
}
