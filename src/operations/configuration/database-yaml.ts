import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap } from 'yaml';
import { parseText } from '../../config/yaml/parse-text.ts';
import { connectionText } from './check/connection-text.ts';

/** Keys of Rails' file, in the order in which they are searched; Rails takes a URL before the other keys. */
export const YAML_KEYS = [
  'development.url',
  'development.database',
  'development.primary.url',
  'development.primary.database',
];

export interface YamlDatabase {
  /** For the parser of URLs; `null` where the value names no database of a known engine. */
  url: string | null;
  /** The value is a URL itself; otherwise the keys beside it state the URL together. */
  isUrl: boolean;
  value: Scalar.Parsed & { value: string };
  /** The keys of its map by name, with merged ones. */
  pairs: Map<string, Pair>;
  /** The pair at the top of the document that the value is in. */
  top: Pair;
  document: Document.Parsed;
}

/** Says why a file or a key cannot be used. */
export class DatabaseYamlError extends Error {
  override name = 'DatabaseYamlError';
}

/** Maps that merge others, and keys of such a map, at most: each alias is searched in the whole file. */
const MOST_MERGES = 20;
const MOST_KEYS = 200;

/** Returns the URL of a key, for the parser of URLs; `null` without one, and for a file that cannot be used. */
export function databaseYamlUrl(text: string, key: string): string | null {
  try {
    return readDatabaseYaml(text, key)?.url ?? null;
  } catch (error) {
    if (error instanceof DatabaseYamlError) return null;
    throw error;
  }
}

/** Reads the value of a key, such as `development.database`; `null` without the key. */
export function readDatabaseYaml(text: string, key: string): YamlDatabase | null {
  // Ruby evaluates comments too.
  if (text.includes('<%')) {
    throw new DatabaseYamlError('contains ERB (<% %>), which only Ruby evaluates: use DATABASE_URL in .env.local');
  }
  const { document, flaws } = parseText(text);
  const [flaw] = flaws;
  if (flaw || !document) throw new DatabaseYamlError(`is ${flaw?.message ?? 'empty'}`);
  const words = key.split('.');
  const last = words.pop() ?? '';
  let section: unknown = document.contents;
  let top: Pair | null = null;
  for (const word of words) {
    const pair = findPair(section, word);
    top ??= pair;
    section = pair?.value;
  }
  const found = findPair(section, last);
  if (!found || !isMap(section)) return null;
  const value = replaceable(found, key);
  const isUrl = value.value.includes('://');
  const pairs = isUrl ? new Map([[last, found]]) : mergedPairs(section, document);
  const url = isUrl ? connectionText({ url: value.value }, 'url') : urlOfParts(pairs, value.value);
  return { url, isUrl, value, pairs, top: top ?? found, document };
}

/** The only pair of a map with this key; `null` without one. */
function findPair(map: unknown, key: string): Pair | null {
  const found = isMap(map) ? map.items.filter((pair) => isScalar(pair.key) && pair.key.value === key) : [];
  if (found.length > 1) throw new DatabaseYamlError(`contains ${key} twice`);
  return found[0] ?? null;
}

/** Refuses a value that other keys share, or whose text is not in one line. */
function replaceable({ value }: Pair, key: string): YamlDatabase['value'] {
  if (!isScalar(value) || typeof value.value !== 'string' || !value.range) {
    throw new DatabaseYamlError(`has no text at ${key}`);
  }
  const isPlain = value.type === 'PLAIN' || value.type === 'QUOTE_DOUBLE' || value.type === 'QUOTE_SINGLE';
  if (!isPlain || value.anchor !== undefined || value.tag !== undefined) {
    throw new DatabaseYamlError(`has a block, an anchor or a tag at ${key}: write the value itself`);
  }
  assertWhole(value.value, key);
  return value as YamlDatabase['value'];
}

/** Refuses a text that no URL can have: JSON of a program writes such a half as an escape. */
function assertWhole(text: string, key: string): void {
  if (!text.isWellFormed()) throw new DatabaseYamlError(`has half a character at ${key}`);
}

/** Returns the keys of a map, then those of the maps that it merges (`<<: *default`). */
function mergedPairs(map: YAMLMap, document: Document.Parsed): Map<string, Pair> {
  const found = new Map<string, Pair>();
  const waiting = [map];
  for (let count = 0; waiting.length > 0; count++) {
    const next = waiting.shift();
    if (!next || count + waiting.length > MOST_MERGES) throw new DatabaseYamlError('merges too many maps');
    if (next.items.length > MOST_KEYS) throw new DatabaseYamlError('has too many keys in a section');
    for (const pair of next.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      if (key !== '<<' && key !== '' && findPair(next, key) && !found.has(key)) found.set(key, pair);
    }
    const merged = findPair(next, '<<')?.value;
    const all = merged === undefined ? [] : isSeq(merged) ? merged.items : [merged];
    if (all.length > MOST_MERGES) throw new DatabaseYamlError('merges too many maps');
    for (const each of all) {
      const target = isAlias(each) ? each.resolve(document) : each;
      if (!isMap(target)) throw new DatabaseYamlError('merges something else than maps');
      waiting.push(target);
    }
  }
  return found;
}

/** The keys of Rails, as the variables of Laravel. */
const PARTS = {
  adapter: 'DB_CONNECTION',
  host: 'DB_HOST',
  port: 'DB_PORT',
  username: 'DB_USERNAME',
  password: 'DB_PASSWORD',
};

function urlOfParts(pairs: Map<string, Pair>, database: string): string | null {
  const variables: NodeJS.Dict<string> = { DB_DATABASE: database };
  for (const [key, variable] of Object.entries(PARTS)) {
    const value = pairs.get(key)?.value;
    if (!isScalar(value) || value.value === null) continue;
    const text = value.source ?? String(value.value);
    assertWhole(text, key);
    variables[variable] = text;
  }
  return connectionText(variables, 'DB_DATABASE');
}
