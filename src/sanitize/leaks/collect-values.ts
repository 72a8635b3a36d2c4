import type { RowFormat } from '../../engines/shared/rows/row-scanner.ts';
import { kindOfName, kindOfValue } from '../detector/detect.ts';
import type { PersonalKind } from '../detector/kinds.ts';
import { createFieldReader } from './field-reader.ts';
import { createFieldScanner, type FieldPiece, type FieldScanner } from './stored-fields.ts';
import { classOf, type LeakColumn } from './value-class.ts';
import { MOST_WORDS, RARE, type ValueTable } from './value-table.ts';
import { type ReadValue, WordReader } from './word-reader.ts';

/** A value, or the first words of a long one; the object is valid during the call. */
export interface CollectedValue {
  first: number;
  second: number;
  valueClass: number;
  value: ReadValue;
  source: LeakColumn;
  text(): string;
}

export interface CollectOptions {
  format: RowFormat;
  /** By position in the stored row. */
  sources: (LeakColumn | null)[];
  onValue: (value: CollectedValue) => void;
}

/** `false` when the table has no room. */
export function insertValue(table: ValueTable, { first, second, valueClass, value, source }: CollectedValue): boolean {
  // Single words within texts say too little.
  if (value.words > 1 || valueClass >= RARE) table.noteWords(value);
  // A number is one word where it is written without blanks.
  const isNumber = value.plainLetters + value.mixedLetters === 0 && value.words > 1 && value.words <= MOST_WORDS;
  if (isNumber && valueClass >= RARE) {
    table.noteWords({ words: 1, firstWord: first, firstDigits: value.digits, firstLetters: 0 });
  }
  table.noteShape(value.digits, value.plainLetters + value.mixedLetters);
  return table.insert(first, second, { column: source.id, valueClass });
}

/** Reads the values of personal columns, and the personal parts of documents and texts. */
export function createCollector({ format, sources, onValue }: CollectOptions): FieldScanner {
  const reader = new WordReader({});
  const field = createFieldReader(reader);
  const { value } = reader;

  let taken: CollectedValue | null = null;
  let text: string | null = null;
  let present: FieldPiece | null = null;

  function take(source: LeakColumn, valueClass: number): void {
    if (valueClass < 0) return;
    taken ??= {
      ...{ first: 0, second: 0, valueClass, value, source },
      text: () => text ?? (present ? field.textOf(present) : ''),
    };
    taken.first = value.first;
    taken.second = value.second;
    taken.valueClass = valueClass;
    taken.source = source;
    onValue(taken);
    if (value.words <= MOST_WORDS) return;
    taken.first = value.prefixFirst;
    taken.second = value.prefixSecond;
    onValue(taken);
  }

  function takeParts(source: LeakColumn, whole: string): void {
    for (const part of personalParts(whole)) {
      text = field.readText(part.text);
      take(source, classOf(value, source, part.kind));
    }
    text = null;
  }

  function onPiece(piece: FieldPiece): void {
    const source = sources[piece.column];
    if (!source || !field.read(piece)) return;
    const hasParts = source.hasParts || (value.hasAt && value.hasBlank);
    present = piece;
    take(source, classOf(value, source));
    if (hasParts) takeParts(source, field.textOf(piece));
  }

  return createFieldScanner({ format, isWanted: (column) => (sources[column] ?? null) !== null, onPiece });
}

interface PersonalPart {
  text: string;
  kind: PersonalKind;
}

/** Texts with more are read as far as this. */
const LONGEST_TEXT = 1024 * 1024;
const LONGEST_PART = 300;

/** The parts of a document or a free text that are personal by their key or their form. */
function personalParts(text: string): PersonalPart[] {
  const read = text.slice(0, LONGEST_TEXT);
  const document = parse(read);
  if (document !== undefined) return partsOf(document);
  const elements = read.startsWith('{') ? [...read.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},"]+/g)] : [];
  return [
    ...elements.flatMap(([plain, quoted]) => partOf(quoted ?? plain)),
    ...addressesIn(read).map((part): PersonalPart => ({ text: part, kind: 'email' })),
    ...numbersIn(read).map((part): PersonalPart => ({ text: part, kind: 'phone' })),
  ];
}

function parse(text: string): object | undefined {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function partsOf(document: object): PersonalPart[] {
  const parts: PersonalPart[] = [];
  const open: { key: string; value: unknown }[] = [{ key: '', value: document }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { key, value } = next;
    if (Array.isArray(value)) for (const each of value) open.push({ key, value: each });
    else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) open.push({ key: name, value: each });
    } else if (typeof value === 'string') {
      const kind = keyKind(key);
      if (kind !== null) parts.push({ text: value, kind });
      else parts.push(...partOf(value), ...addressesIn(value).map((text): PersonalPart => ({ text, kind: 'email' })));
    } else if (typeof value === 'number') {
      const kind = keyKind(key);
      if (kind !== null) parts.push({ text: String(value), kind });
    }
  }
  return parts;
}

const KEY_KINDS = new Map<string, PersonalKind | null>();
const MOST_KEYS = 10_000;

function keyKind(key: string): PersonalKind | null {
  const known = KEY_KINDS.get(key);
  if (known !== undefined) return known;
  const kind = key.length > 100 ? null : kindOfName(key);
  if (KEY_KINDS.size < MOST_KEYS) KEY_KINDS.set(key, kind);
  return kind;
}

function partOf(text: string): PersonalPart[] {
  const kind = text.length > LONGEST_PART ? null : kindOfValue(text);
  return kind === null ? [] : [{ text, kind }];
}

const MOST_LOCAL = 64;
const MOST_DOMAIN = 255;
const IN_LOCAL = /[\p{L}\p{N}._%+-]/u;
const IN_DOMAIN = /[\p{L}\p{N}.-]/u;

/** E-mail addresses around each `@`, at most as long as addresses may be. */
function addressesIn(text: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let from = at;
    while (from > 0 && at - from < MOST_LOCAL && IN_LOCAL.test(text.charAt(from - 1))) from -= 1;
    let to = at + 1;
    while (to < text.length && to - at < MOST_DOMAIN && IN_DOMAIN.test(text.charAt(to))) to += 1;
    const address = text.slice(from, to);
    if (from < at && address.indexOf('.', at - from) > 0) found.push(address);
  }
  return found;
}

/** Phone numbers, accounts and cards, with blanks and signs between their digits. */
function numbersIn(text: string): string[] {
  return [...text.matchAll(/\d(?:[ ()./-]{0,2}\d){8,24}/g)].map(([number]) => number);
}
