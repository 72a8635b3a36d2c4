import { randomInt } from 'node:crypto';
import { capitalized } from '../../text/format.ts';
import type { ColumnFacts } from '../column-facts.ts';
import type { PersonalKind } from '../detector/kinds.ts';

/** Random beginnings of the marks of one run, which no value of the original has. */
export interface Markers {
  word: string;
  digits: string;
  hex: string;
}

/** A value for one column of one synthetic person. */
export interface CanaryValue {
  text: string;
  /** The part to search for, in lower case; the same for one column and person. */
  token: string;
}

/** Finds marks in bytes: tokens by their beginnings, and beginnings in other encodings. */
export interface MarkSearch {
  forms: { prefix: string; length: number; isUnique: boolean }[];
  /** Ids of columns and persons by token, and by the other forms of one. */
  tokens: Map<string, number>;
  /** Beginning of the numbers. */
  digits: string;
  /** Beginnings as they are (`exact`) or in lower case. */
  encoded: { text: string; exact: boolean }[];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const WORD_LETTERS = 6;
const ID_DIGITS = 5;
/** Marks of one run, at most. */
export const MOST_MARKS = 10 ** ID_DIGITS - 1;

export function createMarkers(): Markers {
  const letters = Array.from({ length: WORD_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]);
  return {
    word: `zq${letters.join('')}`,
    digits: String(randomInt(10_000, 20_000)),
    hex: randomInt(0x1000, 0x10000).toString(16),
  };
}

/** Returns possible values, the most telling first; none where no mark fits the type. */
export function canaryValues(
  { facts, kind, id }: { facts: ColumnFacts; kind: PersonalKind | null; id: number },
  markers: Markers,
): CanaryValue[] {
  const { family, type, maxLength } = facts;
  const word = markers.word + id.toString(36).padStart(4, '0');
  const digits = markers.digits + String(id).padStart(ID_DIGITS, '0');
  const all = ((): CanaryValue[] => {
    switch (family) {
      case 'text':
        return textValues({ word, digits, kind });
      case 'number':
        return valuesOf(digits, digits);
      case 'date':
      case 'time':
        return valuesOf(dateToken(id), dateToken(id));
      case 'network':
        return valuesOf(addressToken(markers, id), addressToken(markers, id));
      case 'document':
        return documentValues(facts, word);
      case 'binary':
        return valuesOf(word, word);
      case 'boolean':
      case 'hardware':
      case 'other':
        return type === 'uuid' ? valuesOf(uuidToken(markers, id), uuidToken(markers, id)) : [];
      default:
        return family satisfies never;
    }
  })();
  return all.filter(({ text }) => maxLength === null || text.length <= maxLength);
}

function valuesOf(token: string, ...texts: string[]): CanaryValue[] {
  return texts.map((text) => ({ text, token }));
}

function textValues({
  word,
  digits,
  kind,
}: {
  word: string;
  digits: string;
  kind: PersonalKind | null;
}): CanaryValue[] {
  const mail = valuesOf(word, `${word}@${word}.example`, `${word}@x.io`);
  const number = valuesOf(digits, `+49${digits}`, digits);
  const name = valuesOf(word, `${capitalized(word)} ${word}`, `${word} ${word}`, word);
  if (kind !== null && NUMERIC.has(kind)) return [...number, ...name, ...mail];
  return kind === 'email' ? [...mail, ...name, ...number] : [...name, ...mail, ...number];
}

const NUMERIC = new Set<PersonalKind>(['phone', 'iban', 'card', 'national_id']);

/** With the keys of a sample: a query changes the keys that it knows. */
function documentValues({ type, samples }: ColumnFacts, word: string): CanaryValue[] {
  if (/\[\]$/.test(type)) return valuesOf(word, `{${word}}`);
  const marked = samples.flatMap((sample) => {
    try {
      return [JSON.stringify(JSON.parse(sample), (_, value) => (typeof value === 'string' ? word : value))];
    } catch {
      return [];
    }
  });
  const whole = marked.find((text) => text.includes(word));
  return valuesOf(word, ...(whole === undefined ? [] : [whole]), JSON.stringify({ name: word }), word);
}

/** Days before all that is alive; 30 years of 12 times 28 of them. */
function dateToken(id: number): string {
  const [day, month, year] = [id % 28, Math.floor(id / 28) % 12, Math.floor(id / 336) % 30];
  return `18${10 + year}-${String(month + 1).padStart(2, '0')}-${String(day + 1).padStart(2, '0')}`;
}

function addressToken({ hex }: Markers, id: number): string {
  return `2001:db8:${hex}:${(0x1000 + (id % 0xe000)).toString(16)}::1`;
}

function uuidToken({ hex }: Markers, id: number): string {
  return `${hex}${hex}-0000-4000-8000-${id.toString(16).padStart(12, '0')}`;
}

/** Marks in their own form, reversed, in hexadecimal, base64 and UTF-16, and as the bytes of a type. */
export function markSearch(markers: Markers, tokens: Map<string, number>): MarkSearch {
  const { word, digits, hex } = markers;
  const uuid = `${hex}${hex}-0000-4000`;
  const wide = `20010db8${hex}`;
  const texts = [...[word, word.toUpperCase()].map((text) => text.slice(1)), digits, uuid, uuid.toUpperCase()];
  const bytes = [wide, uuid.replaceAll('-', '')].map((text) => Buffer.from(text, 'hex'));
  return {
    forms: [
      { prefix: word, length: word.length + 4, isUnique: true },
      { prefix: digits, length: digits.length + ID_DIGITS, isUnique: false },
      { prefix: '18', length: 10, isUnique: false },
      // Dates as seconds, and as milliseconds.
      ...['-5', '-4'].map((prefix) => ({ prefix, length: 11, isUnique: false })),
      { prefix: `2001:db8:${hex}:`, length: 21, isUnique: false },
      { prefix: uuid, length: 36, isUnique: false },
      { prefix: uuid.replaceAll('-', ''), length: 32, isUnique: false },
    ],
    tokens: new Map([...tokens].flatMap(([token, id]) => otherForms(token).map((form) => [form, id] as const))),
    digits,
    encoded: [
      ...[word, digits].map((text) => ({ text: [...text].reverse().join(''), exact: false })),
      ...[wide, `2001:0db8:${hex}:`, `2001%3adb8%3a${hex}`].map((text) => ({ text, exact: false })),
      { text: [...word].join('\0'), exact: false },
      // A first letter may be a capital.
      ...texts.map((text) => ({ text: Buffer.from(text).toString('hex'), exact: false })),
      ...bytes.map((each) => ({ text: each.toString('latin1'), exact: true })),
      ...[...texts.map((text) => Buffer.from(text)), ...bytes]
        .flatMap(base64Parts)
        .map((text) => ({ text, exact: true })),
    ],
  };
}

/** Returns the token, a UUID also without dashes, a date also in seconds. */
function otherForms(token: string): string[] {
  if (/^18\d\d-/.test(token)) return [token, String(Date.parse(token) / 1000)];
  return /^\w{8}-0000-/.test(token) ? [token, token.replaceAll('-', '')] : [token];
}

/** Returns the characters of base64 that only the bytes determine, wherever it begins. */
function base64Parts(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const bits = (before + bytes.length) * 8;
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
  });
}
