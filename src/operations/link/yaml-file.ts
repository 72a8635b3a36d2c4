import { isUtf8 } from 'node:buffer';
import { isAlias, isNode, isScalar, visit } from 'yaml';
import { parseText } from '../../config/yaml/parse-text.ts';
import { DatabaseYamlError, readDatabaseYaml, type YamlDatabase } from '../configuration/database-yaml.ts';
import type { FileFormat, Former, Lines } from './file-format.ts';
import { refused } from './tree-file.ts';
import { withDatabase } from './with-database.ts';

/** YAML files, such as Rails' config/database.yml: the value of a key is replaced, and everything else stays. */
export const yamlFile: FileFormat = { urlIn, linesOf, formerOf, linesFor, withLines, withoutLines };

function urlIn(bytes: string, key: string): string | null {
  return read(bytes, key)?.url ?? null;
}

/** Returns a file of its own, with the key and those beside it only: other sections may be of production. */
function linesOf(bytes: string, key: string): Lines {
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
  return { [key]: toBytes(`${lines.join('\n')}\n`) };
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
  const [start, end] = readValue(bytes, key).value.range;
  return { [key]: toBytes(toText(bytes).slice(start, end)) };
}

function linesFor(lines: Lines, { key, database }: { key: string; database: string }): Lines {
  const bytes = lines[key] ?? '';
  const { isUrl, value } = readValue(bytes, key);
  return { [key]: withValue(bytes, key, isUrl ? withDatabase(value.value, database) : database) };
}

function withLines(bytes: string | null, lines: Lines): string {
  const [[key, line] = ['', null]] = Object.entries(lines);
  if (line === null) throw refused(`${key} is missing`);
  if (bytes === null) return line;
  const after = withValue(bytes, key, readValue(line, key).value.value);
  // The other keys may lead to another server.
  if (urlIn(after, key) !== urlIn(line, key))
    throw refused(`The keys beside ${key} differ from those of the main tree`);
  return after;
}

function withoutLines(bytes: string, { key, before }: Former): string | null {
  const text = toText(bytes);
  const { value, top } = readValue(bytes, key);
  if (before !== null) {
    const [start, end] = value.range;
    const after = text.slice(0, start) + toText(before[key] ?? '') + text.slice(end);
    readValue(toBytes(after), key);
    return toBytes(after);
  }
  // The whole section is of the link.
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
