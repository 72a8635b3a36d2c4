import { kindOfName, kindOfValue } from '../detector/detect.ts';
import type { PersonalKind } from '../detector/kinds.ts';

export interface PersonalPart {
  text: string;
  kind: PersonalKind;
}

/** Texts with more are read as far as this. */
const LONGEST_TEXT = 1024 * 1024;
const LONGEST_PART = 300;

/** The parts of a document or a free text that are personal by their key or their form. */
export function personalParts(text: string): PersonalPart[] {
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
