import { parseEnv } from 'node:util';
import { COMPOSED_KEYS, connectionText } from '../configuration/check/connection-text.ts';
import type { FileFormat, Former, Lines } from './file-format.ts';
import { refused } from './tree-file.ts';
import { withDatabase } from './with-database.ts';

/** `.env` files: the lines of the variables. */
export const environmentFile: FileFormat = { urlIn, linesOf, formerOf: linesOf, linesFor, withLines, withoutLines };

/** The variables that state the URL together: those of Laravel, or one. */
function keysOf(key: string): string[] {
  return key === 'DB_DATABASE' ? COMPOSED_KEYS : [key];
}

/** Returns the URL of the application in a file, for the parser of URLs; `null` without one. */
function urlIn(bytes: string, key: string): string | null {
  const lines = linesOf(bytes, key);
  const variables = parseEnv(Object.values(lines).filter(isText).map(toText).join('\n'));
  return connectionText(variables, key);
}

/** Finds the lines of variables. Refuses a variable that occurs twice: programs differ in which one they take. */
function linesOf(bytes: string, key: string): Lines {
  return Object.fromEntries(
    keysOf(key).map((each) => {
      const found = [...bytes.matchAll(lineOf(each))].map(([line]) => line.replace(/\r$/, ''));
      if (found.length > 1) throw refused(`${each} occurs ${found.length} times`);
      return [each, found[0] ?? null];
    }),
  );
}

/** Returns the lines of the main tree with another database, and everything else as it is. */
function linesFor(lines: Lines, { key, database }: { key: string; database: string }): Lines {
  const line = lines[key];
  const value = isText(line) ? parseEnv(toText(line))[key] : undefined;
  if (!isText(line) || !value) throw refused(`${key} is missing`);
  const replaced = key === 'DB_DATABASE' ? database : withDatabase(value, database);
  // A comment after the value may have it once more.
  const at = line.indexOf(toBytes(value), line.indexOf('='));
  const changed = at === -1 ? '' : line.slice(0, at) + toBytes(replaced) + line.slice(at + toBytes(value).length);
  if (parseEnv(toText(changed))[key] !== replaced) throw refused(`The value of ${key} contains escapes`);
  return { ...lines, [key]: changed };
}

/** Returns the content with these lines in place of its own, or at its end. */
function withLines(bytes: string | null, lines: Lines): string {
  let content = bytes ?? '';
  const end = /\r\n/.test(content) ? '\r\n' : '\n';
  for (const [key, line] of Object.entries(lines)) {
    if (line === null) continue;
    if (lineOf(key).test(content)) {
      content = content.replace(lineOf(key), (old) => line + (old.endsWith('\r') ? '\r' : ''));
    } else content += `${content === '' || content.endsWith('\n') ? '' : end}${line}${end}`;
  }
  return content;
}

/** Returns the content with the lines of before; `null` where nothing remains of a file that did not exist. */
function withoutLines(bytes: string, { before, unended, key }: Former): string | null {
  let content = bytes;
  for (const each of keysOf(key)) {
    const line = before?.[each] ?? null;
    if (line === null) content = content.replace(new RegExp(`${lineOf(each).source}\\n?`, 'm'), '');
    else content = withLines(content, { [each]: line });
  }
  if (before === null && content === '') return null;
  return unended ? content.replace(/\r?\n$/, '') : content;
}

function lineOf(key: string): RegExp {
  return new RegExp(`^[ \\t]*(?:export[ \\t]+)?${key}[ \\t]*=[^\\n]*`, 'gm');
}

const isText = (line: string | null | undefined): line is string => typeof line === 'string';
const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();
const toBytes = (text: string): string => Buffer.from(text).toString('latin1');
