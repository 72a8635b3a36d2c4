import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { absolutePath, userConfigFile } from './paths.ts';
import type { UrlTarget } from './urls/url-target.ts';
import { brokenSource, type Flaw, parseYaml, type YamlSource } from './yaml/yaml-source.ts';

export interface ConfigFile {
  path: string;
  text: string;
  source: YamlSource;
  /** Permission bits; `null` on systems without them. */
  mode: number | null;
  shadows?: string;
  /** Found in the current folder, not named by the user. */
  inFolder?: true;
}

export interface FileRequest {
  /** The file of `--config`; it must exist. Default: the usual places. */
  file?: string | undefined;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** Text to use instead of the file's, for unsaved edits. */
  text?: string | undefined;
  /** A target besides those of the file, which need not exist then. */
  urls?: UrlTarget | undefined;
}

const MAX_BYTES = 4 * 1024 * 1024;

export async function readConfigFile({ text, ...request }: FileRequest): Promise<ConfigFile | null> {
  const file = await findConfigFile(request);
  if (!file || text === undefined) return file;
  return { ...file, ...decode(Buffer.from(text)) };
}

async function findConfigFile({ file, environment, cwd }: FileRequest): Promise<ConfigFile | null> {
  if (file !== undefined) {
    const path = absolutePath(file, { from: cwd, environment });
    const missing = {
      code: 'no_configuration',
      message: 'file not found',
      hint: 'Create one: tool config init',
    };
    return (await readFileAt(path)) ?? unusable(path, missing);
  }
  const own = userConfigFile(environment);
  const here = await readFileAt(join(cwd, 'tool.yml'));
  if (!here) return readFileAt(own);
  const isShadowing = here.path !== own && (await exists(own));
  return { ...here, inFolder: true, ...(isShadowing && { shadows: own }) };
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** `null` when the file does not exist. Any other error is a problem and ends the search. */
async function readFileAt(path: string): Promise<ConfigFile | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY);
  } catch (error) {
    return isMissing(error) ? null : unreadable(path, error);
  }
  try {
    const { mode } = await handle.stat();
    // To the end: the file may be a pipe, or a device without an end.
    const bytes = await buffer(handle.createReadStream({ end: MAX_BYTES, autoClose: false }));
    if (bytes.length > MAX_BYTES) {
      const message = `larger than ${MAX_BYTES / 1024 / 1024} MB, which no configuration is`;
      return unusable(path, { code: 'file_too_large', message, hint: null });
    }
    return { path, ...decode(bytes), mode: process.platform === 'win32' ? null : mode & 0o777 };
  } catch (error) {
    return unreadable(path, error);
  } finally {
    await handle.close();
  }
}

function decode(bytes: Buffer): Pick<ConfigFile, 'text' | 'source'> {
  const { text, flaw } = decodeText(bytes);
  return { text, source: flaw ? brokenSource(flaw) : parseYaml(text) };
}

function decodeText(bytes: Buffer): { text: string; flaw: Flaw | null } {
  const text = new TextDecoder('utf-8').decode(bytes);
  const notUtf8 = isUtf8(bytes) ? -1 : text.indexOf('\uFFFD');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const control = text.search(/[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]/);
  if (notUtf8 === -1 && control === -1) return { text, flaw: null };
  const offset = notUtf8 === -1 ? control : notUtf8;
  const before = text.slice(0, offset).split('\n');
  const position = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  if (notUtf8 !== -1) {
    return { text, flaw: { ...position, code: 'yaml_syntax', message: 'not UTF-8', hint: 'Save the file as UTF-8.' } };
  }
  const name = `U+${text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, '0')}`;
  const message = `the control character ${name} is not allowed`;
  return { text, flaw: { ...position, code: 'yaml_syntax', message, hint: 'Remove it.' } };
}

function unreadable(path: string, error: unknown): ConfigFile {
  const reason = error instanceof Error ? error.message.replace(/, \w+( '.*')?$/, '') : String(error);
  return unusable(path, { code: 'file_unreadable', message: `cannot be read: ${reason}`, hint: null });
}

function unusable(path: string, flaw: Omit<Flaw, 'line' | 'column'>): ConfigFile {
  return { path, text: '', source: brokenSource({ ...flaw, line: 1, column: 1 }), mode: null };
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
