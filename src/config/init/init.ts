import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { InitResult } from '../../results/configuration/configuration-results.ts';
import { UserError } from '../../runtime/errors.ts';
import { assetUrl } from '../../runtime/package-files.ts';
import { writeTemporary } from '../../runtime/write-file.ts';
import { exists } from '../config-file.ts';
import { absolutePath, userConfigFile } from '../paths.ts';
import { DEFAULT_WORKING_DIRECTORY, settingsSchema } from '../schema/settings.ts';
import { type Shape, shapeOf } from '../schema/shape.ts';
import { IN_KEYCHAIN, readFromKeychain, writeToKeychain } from '../secrets/keychain.ts';
import { isTree, type Tree } from '../tree.ts';
import { trustOwnFile } from '../trust/trust-store.ts';
import { parseYaml } from '../yaml/yaml-source.ts';
import { writeScalar } from '../yaml/yaml-text.ts';

export interface InitRequest {
  file?: string | undefined;
  /** Replaces an existing file and keeps it under a new name. */
  force: boolean;
  keychain?: boolean;
  /** Instead of the defaults. */
  content?: { text: string; secretKey?: string };
  environment: NodeJS.ProcessEnv;
  cwd: string;
}

const OWN = { mode: 0o600 };

/**
 * Writes a configuration with defaults and a new `secret_key`, readable by its owner only, and creates the working
 * directory.
 */
export async function initConfiguration(request: InitRequest): Promise<InitResult> {
  const { file, force, keychain = false, content, environment, cwd } = request;
  const named = file === undefined ? userConfigFile(environment) : absolutePath(file, { from: cwd, environment });
  const path = await realpath(named).catch(() => named);
  const from = dirname(path);
  const directory = environment.TOOL_WORKING_DIRECTORY || DEFAULT_WORKING_DIRECTORY;
  const working_directory = absolutePath(directory, { from, environment });
  try {
    await mkdir(from, { recursive: true, mode: 0o700 });
    if (!force) await assertNoConfiguration(path);
    // Before the file, so that a failure leaves no configuration behind.
    await mkdir(working_directory, { recursive: true, mode: 0o700 });
    if (force) await keepFormerKey(path);
    const secretKey = content?.secretKey ?? randomBytes(16).toString('hex');
    const text = content?.text ?? newConfiguration(keychain ? IN_KEYCHAIN : secretKey);
    // Before the keychain: when the disk is full, the existing file keeps its key.
    let unfinished = await writeTemporary(path, text, OWN);
    const keychain_error = keychain ? await keepInKeychain(path, secretKey) : null;
    if (keychain_error !== null) {
      await rm(unfinished);
      if (content) throw keyNotKept(keychain_error);
      unfinished = await writeTemporary(path, newConfiguration(secretKey), OWN);
    }
    const secret_key_in = keychain && keychain_error === null ? 'keychain' : 'file';
    try {
      const written = await readFile(unfinished, 'utf8');
      const replaced = await putInPlace(unfinished, path, { force });
      await trustOwnFile({ file: path, text: written }, environment);
      const shadowed_by = file === undefined ? await shadowOf(path, cwd) : null;
      return { file: path, working_directory, replaced, shadowed_by, secret_key_in, keychain_error };
    } finally {
      await rm(unfinished, { force: true });
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError('file_not_written', `Cannot write the configuration: ${reason}`, {
      hint: 'Choose another file: --config FILE',
      cause: error,
    });
  }
}

/** A `tool.yml` of the current folder would be read instead of the written file. */
async function shadowOf(path: string, cwd: string): Promise<string | null> {
  const here = await realpath(join(cwd, 'tool.yml')).catch(() => null);
  return here === path ? null : here;
}

export async function assertNoConfiguration(path: string): Promise<void> {
  if (await exists(path)) throw alreadyThere(path);
}

/** The content was made for the keychain. */
function keyNotKept(reason: string): UserError {
  return new UserError('keychain_unavailable', `The keychain cannot store the secret_key: ${reason}`, {
    hint: 'Nothing was written. Keep the secret_key in the file.',
  });
}

async function keepInKeychain(path: string, secretKey: string): Promise<string | null> {
  return writeToKeychain(path, secretKey).then(
    () => null,
    (error: Error) => error.message,
  );
}

/** The replaced file needs its key under its new name. */
async function keepFormerKey(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (parseYaml(text).tree.secret_key !== IN_KEYCHAIN) return;
  const former = await readFromKeychain(path).catch(() => null);
  if (former !== null) await writeToKeychain(replacedName(path), former);
}

function replacedName(path: string): string {
  return `${path}.replaced`;
}

/** A link, unlike a rename, never replaces a file that was created meanwhile. */
async function putInPlace(unfinished: string, path: string, { force }: { force: boolean }): Promise<string | null> {
  try {
    await link(unfinished, path);
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (!force) throw alreadyThere(path);
  const replaced = replacedName(path);
  // Its secret_key may still be needed. The old file keeps its name until the new one replaces it.
  await rm(replaced, { force: true });
  await link(path, replaced);
  await rename(unfinished, path);
  return replaced;
}

function alreadyThere(path: string): UserError {
  return new UserError('configuration_exists', `${path} already exists`, {
    hint: 'Check it: tool config check. --force replaces it and keeps the old file.',
  });
}

/** Returns a configuration with all keys that have a default; `secretKey` may be the word `keychain`. */
function newConfiguration(secretKey: string): string {
  const shape = shapeOf(settingsSchema);
  const keys = shape.kind === 'object' ? [...shape.keys] : [];
  return [
    schemaLine(),
    '#',
    '# Configuration of tool. All keys: docs/configuration.md and tool.example.yml. Check it with: tool config check',
    '',
    '# Encrypts what is sensitive in here. Keep it: nothing else opens what it has encrypted.',
    ...(secretKey === IN_KEYCHAIN
      ? [
          "# The system's keychain holds it, as the password of the service tool for the path of this file.",
          'secret_key: keychain',
        ]
      : [`secret_key: "${secretKey}"`]),
    '',
    ...keys.flatMap(([key, child]) => defaultLines(key, child)),
    EXAMPLE_TARGET,
  ].join('\n');
}

/** Returns a configuration with the answers, without the keys that have their defaults. */
export function briefConfiguration(secretKey: string, sections: Tree): string {
  return [
    schemaLine(),
    '# All keys: docs/configuration.md. Keep secret_key: nothing else opens what it has encrypted.',
    `secret_key: "${secretKey}"`,
    writeTree(sections, 0),
  ].join('\n');
}

/** Editors split the line at spaces, so that a path would break. */
function schemaLine(): string {
  return `# yaml-language-server: $schema=${assetUrl('tool.schema.json').href}`;
}

function defaultLines(key: string, shape: Shape): string[] {
  if (shape.kind !== 'value' || shape.default === undefined) return [];
  return [`# ${shape.description}`, `${key}: ${writeScalar(shape.default)}`, ''];
}

function writeTree(tree: Tree, depth: number): string {
  const indent = '  '.repeat(depth);
  return Object.entries(tree)
    .map(([key, value]) => {
      const name = indent + writeScalar(key);
      return isTree(value) ? `${name}:\n${writeTree(value, depth + 1)}` : `${name}: ${writeScalar(value)}\n`;
    })
    .join('');
}

const EXAMPLE_TARGET = `# A target names a database to take snapshots of, and one to load them into.
# targets:
#   app:
#     snapshot:
#       src_url: "postgres://app:{{\`APP_PASSWORD\` | env}}@db.example.com:5432/app"
#       dst_url: postgres://localhost:5432/app_copy
`;
