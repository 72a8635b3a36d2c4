import { kindOfValue } from '../detector/detect.ts';
import type { PersonalKind } from '../detector/kinds.ts';
import { ANY_KEY, type PathKey, type Shape } from './ledger-item.ts';

/** Keys of a document in the ledger: two levels; those of arrays count as the keys of their elements. */
const MOST_LEVELS = 2;
/** Arrays within arrays whose keys are read. */
const MOST_ARRAYS = 16;
/** Keys of one level; more of them are data, such as ids. */
export const MOST_KEYS = 200;

export interface FoundPath {
  path: PathKey[];
  /** Values that are not null. */
  values: number;
  /** Equal for equal values in any order. */
  sum: number;
}

/** Collects the keys of documents in bounded memory. */
export interface PathCollector {
  add(text: string, shape: Shape): void;
  /** Notes a value that is too long to be read. */
  addUnread(): void;
  found(): FoundPath[];
}

interface Level {
  /** `null`: they are data, not names. */
  keys: Map<string, { values: number; sum: number; below: Level }> | null;
  /** All keys together: the number of their values, and the sum of the hashes. */
  values: number;
  sum: number;
  isUnread: boolean;
}

const newLevel = (): Level => ({ keys: new Map(), values: 0, sum: 0, isUnread: false });

/** A key of such a form is a value of a person; a ledger and a message name none. */
const VALUE_KINDS = new Set<PersonalKind | null>(['email', 'phone', 'iban', 'card', 'ip_address', 'device', 'secret']);

const SUM_LIMIT = 2 ** 52;

export function createPathCollector(): PathCollector {
  const root = newLevel();

  function note(path: string[], { from, to, text }: JsonValue): void {
    let level = root;
    for (const [at, key] of path.entries()) {
      const counts = at === path.length - 1 && !(to - from === 4 && text.startsWith('null', from));
      if (counts) {
        level.values += 1;
        level.sum = (level.sum + hash(text, { from, to, seed: hash(key) })) % SUM_LIMIT;
      }
      const entry = entryIn(level, key);
      if (!entry) return;
      if (counts) {
        entry.values += 1;
        entry.sum = (entry.sum + hash(text, { from, to })) % SUM_LIMIT;
      }
      level = entry.below;
    }
  }

  function noteAll(path: string[]): void {
    let level: Level = root;
    for (const key of path) {
      const below = level.keys?.get(key)?.below;
      if (!below) break;
      level = below;
    }
    level.keys = null;
    level.isUnread = true;
  }

  function addShaped(text: string, shape: Shape, path: string[]): void {
    if (shape.kind === 'document') readDocument(text, { path, onValue: note, onUnread: noteAll });
    else if (shape.kind === 'array') for (const element of arrayElements(text)) addShaped(element, shape.of, path);
    else if (shape.kind === 'record') {
      for (const [at, field] of recordFields(text).entries()) {
        const own = shape.fields[at];
        if (own && field !== null) addShaped(field, own.shape, [...path, own.name]);
      }
    }
  }

  return {
    add: (text, shape) => addShaped(text, shape, []),
    addUnread: () => noteAll([]),
    found: () => pathsIn(root, []),
  };
}

function entryIn(level: Level, key: string): { values: number; sum: number; below: Level } | null {
  const known = level.keys?.get(key);
  if (known || level.keys === null) return known ?? null;
  if (level.keys.size === MOST_KEYS || VALUE_KINDS.has(kindOfValue(key))) {
    level.keys = null;
    return null;
  }
  const entry = { values: 0, sum: 0, below: newLevel() };
  level.keys.set(key, entry);
  return entry;
}

function pathsIn({ keys, isUnread, ...all }: Level, above: string[]): FoundPath[] {
  if (keys === null) return [{ path: [...above, ANY_KEY], ...(isUnread ? { values: 1, sum: 0 } : all) }];
  return [...keys].flatMap(([key, { values, sum, below }]) => {
    const path = [...above, key];
    return [{ path, values, sum }, ...pathsIn(below, path)];
  });
}

function hash(text: string, { from = 0, to = text.length, seed = 0 } = {}): number {
  let [first, second] = [0x811c9dc5 ^ seed, 0x9e3779b9 ^ seed];
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x85ebca6b) ^ (second >>> 15);
  }
  return (first & 0xfffff) * 2 ** 32 + (second >>> 0);
}

interface JsonValue {
  text: string;
  from: number;
  to: number;
}

interface DocumentRequest {
  path: string[];
  onValue: (path: string[], value: JsonValue) => void;
  onUnread: (path: string[]) => void;
}

/** Reads the keys as they are written: a parser would drop the first of two equal ones. */
function readDocument(text: string, { path: start, onValue, onUnread }: DocumentRequest): void {
  const most = start.length + MOST_LEVELS;

  function readValue(from: number, path: string[], arrays: number): number {
    if (text[from] === '"') return endOfString(text, from);
    const isArray = text[from] === '[';
    if (!isArray && text[from] !== '{') return endOfWord(text, from);
    if (isArray && arrays === MOST_ARRAYS) onUnread(path);
    if (isArray ? arrays === MOST_ARRAYS : path.length === most) return endOfBrackets(text, from);
    let at = afterBlanks(text, from + 1);
    while (at < text.length && text[at] !== ']' && text[at] !== '}') {
      if (isArray) at = readValue(at, path, arrays + 1);
      else {
        const end = endOfString(text, at);
        const own = [...path, keyText(text.slice(at, end))];
        const begin = afterBlanks(text, afterBlanks(text, end) + 1);
        at = readValue(begin, own, 0);
        onValue(own, { text, from: begin, to: at });
      }
      at = afterBlanks(text, at);
      if (text[at] === ',') at = afterBlanks(text, at + 1);
    }
    return at + 1;
  }

  readValue(afterBlanks(text, 0), start, 0);
}

function keyText(written: string): string {
  if (!written.includes('\\')) return written.slice(1, -1);
  try {
    return String(JSON.parse(written));
  } catch {
    return written;
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at += 1;
  return at;
}

/** Always beyond `from`, so that a damaged text ends. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfWord(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && !',]}'.includes(text[at] ?? '') && text.charCodeAt(at) > 32) at += 1;
  return at;
}

function endOfBrackets(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const letter = text[at];
    if (letter === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (letter === '{' || letter === '[') depth += 1;
    if (letter === '}' || letter === ']') depth -= 1;
    at += 1;
    if (depth === 0) break;
  }
  return at;
}

/** Returns the elements of an array as PostgreSQL writes it, of all dimensions; without NULL. */
export function arrayElements(text: string): string[] {
  const elements: string[] = [];
  const body = text.slice(text.indexOf('{'));
  for (const [, quoted, plain] of body.matchAll(/"((?:[^"\\]|\\[\s\S])*)"|([^{},"\s][^{},"]*)/g)) {
    if (quoted !== undefined) elements.push(quoted.replaceAll(/\\([\s\S])/g, '$1'));
    else if (plain !== undefined && plain !== 'NULL') elements.push(plain);
  }
  return elements;
}

/** Returns the fields of a record as PostgreSQL writes it: `(1,"a ""b""",)`; an empty one is NULL. */
export function recordFields(text: string): (string | null)[] {
  const fields: (string | null)[] = [];
  let field = '';
  let isGiven = false;
  let isQuoted = false;
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (letter === '"' && isQuoted && text[at + 1] === '"') {
      field += letter;
      at += 1;
    } else if (letter === '"') {
      isQuoted = !isQuoted;
      isGiven = true;
    } else if (letter === '\\') {
      at += 1;
      field += text[at] ?? '';
    } else if (!isQuoted && (letter === ',' || letter === ')')) {
      fields.push(isGiven || field !== '' ? field : null);
      field = '';
      isGiven = false;
    } else field += letter;
  }
  return fields;
}
