import { lstat, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { parseEnv } from 'node:util';
import { replaceFile } from '../../config/edit/write-temporary.ts';
import { UserError } from '../../runtime/errors.ts';
import { COMPOSED_KEYS, connectionText } from '../configuration/project-database.ts';
import { isEnvironmentFile, KEY } from './names.ts';
import { readBytes } from './read-bytes.ts';

/** Lines of a file by variable, as bytes without their end; `null` for a missing one. */
export type Lines = Record<string, string | null>;

export interface PlannedFile {
  path: string;
  /** `null` where there is no file. */
  before: string | null;
  /** `null`: the file is removed. */
  after: string | null;
}

/** Refuses names of a file and a variable that the memory of a link cannot have. */
export function assertNames({ file, key }: { file?: string | undefined; key?: string | undefined }): void {
  if (file !== undefined && !isEnvironmentFile(file)) {
    throw refused(`--file ${file} is not .env, .env.NAME or such a file in a folder of the tree (app/.env.local)`);
  }
  if (key !== undefined && !KEY.test(key)) {
    throw refused(`--key ${key} has other characters than A-Z, 0-9 and _ (DATABASE_URL), or more than 100`);
  }
}

/** The variables that state the URL together: those of Laravel, or one. */
export function keysOf(key: string): string[] {
  return key === 'DB_DATABASE' ? COMPOSED_KEYS : [key];
}

/** Reads the content of a file in a tree, as bytes; `null` without one. Refuses links, in place of folders too. */
export async function readInTree(folder: string, file: string): Promise<string | null> {
  const path = join(folder, file);
  if (!resolve(path).startsWith(folder + sep)) throw refused(`${path} is outside of the working tree`);
  const parts = file.split('/');
  for (let count = 1; count < parts.length; count++) {
    const part = join(folder, ...parts.slice(0, count));
    const stat = await lstat(part).catch(() => null);
    if (!stat?.isDirectory()) throw refused(stat ? `${part} is a link or no folder` : `${part} does not exist`);
  }
  return readBytes(path, refused);
}

/** Returns the URL of the application in a file, for the parser of URLs; `null` without one. */
export function urlIn(bytes: string, key: string): string | null {
  const lines = linesOf(bytes, keysOf(key));
  const variables = parseEnv(Object.values(lines).filter(isText).map(toText).join('\n'));
  return connectionText(variables, key);
}

/** Finds the lines of variables. Refuses a variable that occurs twice: programs differ in which one they take. */
export function linesOf(bytes: string, keys: string[]): Lines {
  return Object.fromEntries(
    keys.map((key) => {
      const found = [...bytes.matchAll(lineOf(key))].map(([line]) => line.replace(/\r$/, ''));
      if (found.length > 1) throw refused(`${key} occurs ${found.length} times`);
      return [key, found[0] ?? null];
    }),
  );
}

/** Returns the lines of the main tree with another database, and everything else as it is. */
export function linesFor(lines: Lines, { key, database }: { key: string; database: string }): Lines {
  const line = lines[key];
  const value = isText(line) ? parseEnv(toText(line))[key] : undefined;
  if (!isText(line) || !value) throw refused(`${key} is missing`);
  const encoded = encodeURIComponent(database);
  const replaced =
    key === 'DB_DATABASE'
      ? database
      : value.replace(/^([^:/?#]*:\/\/[^/?#]*\/)[^?#]*/, (_, before: string) => before + encoded);
  // A comment after the value may have it once more.
  const at = line.indexOf(toBytes(value), line.indexOf('='));
  const changed = at === -1 ? '' : line.slice(0, at) + toBytes(replaced) + line.slice(at + toBytes(value).length);
  if (parseEnv(toText(changed))[key] !== replaced) throw refused(`The value of ${key} contains escapes`);
  return { ...lines, [key]: changed };
}

/** Returns the content with these lines in place of its own, or at its end. */
export function withLines(bytes: string | null, lines: Lines): string {
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
export function withoutLines(
  bytes: string,
  { before, unended, keys }: { before: Lines | null; unended: boolean; keys: string[] },
): string | null {
  let content = bytes;
  for (const key of keys) {
    const line = before?.[key] ?? null;
    if (line === null) content = content.replace(new RegExp(`${lineOf(key).source}\\n?`, 'm'), '');
    else content = withLines(content, { [key]: line });
  }
  if (before === null && content === '') return null;
  return unended ? content.replace(/\r?\n$/, '') : content;
}

/** Writes or removes a file. For this user only: the line has a password. */
export async function writeInTree({ path, before, after }: PlannedFile): Promise<void> {
  const present = await readBytes(path, refused);
  if (present !== before) throw refused(`${path} has changed meanwhile`);
  if (after === null) await rm(path);
  else await replaceFile(path, Buffer.from(after, 'latin1'), { mode: 0o600 });
}

function lineOf(key: string): RegExp {
  return new RegExp(`^[ \\t]*(?:export[ \\t]+)?${key}[ \\t]*=[^\\n]*`, 'gm');
}

const isText = (line: string | null | undefined): line is string => typeof line === 'string';
const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();
const toBytes = (text: string): string => Buffer.from(text).toString('latin1');

export function refused(message: string): UserError {
  return new UserError('link_refused', message, {
    hint: 'Correct the file, or choose another one: tool link TARGET --file FILE --key KEY',
  });
}
