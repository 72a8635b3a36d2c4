import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isAlias, isNode, isScalar, visit } from 'yaml';
import { parseText } from '../../config/yaml/parse-text.ts';
import { UserError } from '../../runtime/errors.ts';
import { DatabaseYamlError, readDatabaseYaml, type YamlDatabase } from '../configuration/database-yaml.ts';
import type { FileFormat, Former, Lines } from './file-format.ts';
import { refused } from './tree-file.ts';
import { withDatabase } from './with-database.ts';

/** YAML files, such as Rails' config/database.yml: the value of a key is replaced, and everything else stays. */
export const yamlFile: FileFormat = { urlIn, linesOf, formerOf, linesFor, withLines, withoutLines };

function urlIn(bytes: string, key: string): string | null {
  return read(bytes, key)?.url ?? null;
}

/** Returns sections of a file of its own: that of the key, and that of Rails' tests. Others may be of production. */
function linesOf(bytes: string, key: string): Lines {
  return Object.fromEntries(keysIn(bytes, key).map((each) => [each, sectionOf(bytes, each)]));
}

/** Returns the key, and that of the database of Rails' tests where the file has one that can be replaced. */
function keysIn(bytes: string, key: string): string[] {
  const [section, ...path] = key.split('.');
  if (section !== 'development') return [key];
  // Rails takes a URL before the other keys.
  for (const last of ['url', 'database']) {
    const test = ['test', ...path.slice(0, -1), last].join('.');
    try {
      if (read(bytes, test)) return [key, test];
    } catch (error) {
      if (error instanceof UserError) return [key];
      throw error;
    }
  }
  return [key];
}

/** Returns the key and those beside it only, in maps of their own. */
function sectionOf(bytes: string, key: string): string {
  const { pairs, document } = readValue(bytes, key);
  const text = toText(bytes);
  const path = key.split('.').slice(0, -1);
  const indent = (depth: number): string => '  '.repeat(depth);
  const lines = [
    ...path.map((word, depth) => `${indent(depth)}${word}:`),
    ...[...pairs].map(([name, { value }]) => {
      const word = /^[A-Za-z_][\w-]*$/.test(name) ? name : JSON.stringify(name);
      return `${indent(path.length)}${word}: ${valueText(text, value, { name, document })}`;
    }),
  ];
  return toBytes(`${lines.join('\n')}\n`);
}

/** Returns the value as it is written, where that is one line: `port: 05432` stays. */
function valueText(text: string, value: unknown, key: { name: string; document: YamlDatabase['document'] }): string {
  const { name, document } = key;
  const source = isScalar(value) && value.range ? text.slice(value.range[0], value.range[1]) : '';
  const isOneLine = isScalar(value) && value.tag === undefined && !/^[|>]|\n/.test(source);
  if (isOneLine) return source;
  if (isAlias(value) && isScalar(value.resolve(document))) return valueText(text, value.resolve(document), key);
  try {
    return JSON.stringify(isNode(value) ? value.toJS(document, { maxAliasCount: 100 }) : value);
  } catch {
    // It contains itself, or very many others.
    throw refused(`The value of ${name} cannot be written`);
  }
}

function formerOf(bytes: string, key: string): Lines {
  const former = keysIn(bytes, key).map((each) => {
    const [start, end] = readValue(bytes, each).value.range;
    return [each, toBytes(toText(bytes).slice(start, end))];
  });
  return Object.fromEntries(former);
}

function linesFor(lines: Lines, { key, database }: { key: string; database: string }): Lines {
  const changed = Object.entries(lines).map(([each, line]) => {
    const bytes = line ?? '';
    const { url, isUrl, value } = readValue(bytes, each);
    // A file of SQLite is in the tree itself.
    if (each !== key && url === null) return [each, bytes];
    const name = each === key ? database : testDatabase(database);
    return [each, withValue(bytes, each, isUrl ? withDatabase(value.value, name) : name)];
  });
  return Object.fromEntries(changed);
}

function withLines(bytes: string | null, lines: Lines): string {
  const all = Object.entries(lines).map(([key, line]) => {
    if (line === null) throw refused(`${key} is missing`);
    return { key, line };
  });
  if (bytes === null) return all.map(({ line }) => line).join('');
  const [first, ...tests] = all;
  if (!first) return bytes;
  const { key, line } = first;
  let content = withValue(bytes, key, readValue(line, key).value.value);
  // The other keys may lead to another server.
  if (urlIn(content, key) !== urlIn(line, key))
    throw refused(`The keys beside ${key} differ from those of the main tree`);
  for (const test of tests) {
    if (!keysIn(bytes, key).includes(test.key)) continue;
    const after = withValue(content, test.key, readValue(test.line, test.key).value.value);
    // The tests of this tree have another server.
    if (urlIn(after, test.key) === urlIn(test.line, test.key)) content = after;
  }
  return content;
}

function withoutLines(bytes: string, { key, before, keys = [key] }: Former): string | null {
  // The user may have removed the section of the tests.
  const isIn = (content: string, each: string): boolean => each === key || keysIn(content, key).includes(each);
  if (before === null) {
    const remove = (rest: string | null, each: string) =>
      rest === null || !isIn(rest, each) ? rest : withoutSection(rest, each);
    return keys.reduce<string | null>(remove, bytes);
  }
  return Object.entries(before).reduce((content, [each, former]) => {
    if (!isIn(content, each)) return content;
    const text = toText(content);
    const [start, end] = readValue(content, each).value.range;
    const after = toBytes(text.slice(0, start) + toText(former ?? '') + text.slice(end));
    readValue(after, each);
    return after;
  }, bytes);
}

/** The whole section is of the link. */
function withoutSection(bytes: string, key: string): string | null {
  const text = toText(bytes);
  const { top } = readValue(bytes, key);
  const start = isScalar(top.key) ? (top.key.range?.[0] ?? 0) : 0;
  const end = isNode(top.value) ? (top.value.range?.[1] ?? text.length) : text.length;
  const rest = text.slice(0, start) + text.slice(end).replace(/^[ \t]*\r?\n/, '');
  if (rest.trim() === '') return null;
  if (hasAnchor(top.value) || parseText(rest).flaws.length > 0) {
    throw refused(`Other parts of the file need ${key.split('.')[0]}`);
  }
  return toBytes(rest);
}

/** The link writes none: one of somebody else is used elsewhere. */
function hasAnchor(node: unknown): boolean {
  let found = false;
  if (isNode(node)) {
    visit(node, {
      Value(_, { anchor }) {
        found ||= anchor !== undefined;
      },
    });
  }
  return found;
}

/** Replaces the text of the value in its quotes. */
function withValue(bytes: string, key: string, value: string): string {
  const present = readValue(bytes, key).value;
  if (present.value === value) return bytes;
  const [start, end] = present.range;
  const text = toText(bytes);
  const isWord = present.type === 'PLAIN' && /^[A-Za-z]\w*_\w+$/.test(value);
  const written = present.type === 'QUOTE_SINGLE' ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
  const after = toBytes(text.slice(0, start) + (isWord ? value : written) + text.slice(end));
  if (readValue(after, key).value.value !== value) throw refused(`The value of ${key} cannot be replaced`);
  return after;
}

function readValue(bytes: string, key: string): YamlDatabase {
  const found = read(bytes, key);
  if (!found) throw refused(`${key} is missing`);
  return found;
}

function read(bytes: string, key: string): YamlDatabase | null {
  try {
    return readDatabaseYaml(toText(bytes), key);
  } catch (error) {
    if (error instanceof DatabaseYamlError) throw refused(`The YAML file ${error.message}`);
    throw error;
  }
}

function toText(bytes: string): string {
  const content = Buffer.from(bytes, 'latin1');
  if (!isUtf8(content)) throw refused('The YAML file is not UTF-8');
  return content.toString();
}

const toBytes = (text: string): string => Buffer.from(text).toString('latin1');

/** Bytes of a name on every server, without the numbers that Rails adds for its workers (`-12`). */
const MOST_BYTES = 60;
const SUFFIX = '-test';

/** The database of a tree's tests, which Rails creates, drops and numbers itself. No branch has a name with this suffix. */
export function testDatabase(database: string): string {
  const most = MOST_BYTES - SUFFIX.length;
  if (Buffer.byteLength(database) <= most) return database + SUFFIX;
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 8);
  let kept = '';
  for (const character of database) {
    if (Buffer.byteLength(kept + character) > most - digest.length - 1) break;
    kept += character;
  }
  return `${kept}_${digest}${SUFFIX}`;
}
