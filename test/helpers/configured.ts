import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReadConfiguration, readConfiguration } from '../../src/config/load.ts';

export const SECRET_KEY = 'secret_key: "0123456789abcdef0123456789abcdef"\n';

/** Reads a file of this content, in a folder of its own, which is the home directory as well. */
export async function configured(
  content: string | Uint8Array,
  environment: NodeJS.ProcessEnv = {},
): Promise<ReadConfiguration & { folder: string }> {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'tool.yml'), content);
  const read = await readConfiguration({ environment: { HOME: folder.path, ...environment }, cwd: folder.path });
  return { ...read, folder: folder.path };
}

/** The settings of a configuration that must be right. */
export async function settingsOf(content: string, environment: NodeJS.ProcessEnv = {}) {
  const { configuration, problems } = await configured(content, environment);
  if (!configuration) throw new Error(`Not valid: ${problems.map(({ message }) => message).join('; ')}`);
  return configuration.settings;
}

/** Problems in short: `3:7 unknown_key`, or the key instead of the place. */
export async function problemsOf(content: string | Uint8Array, environment: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const { problems } = await configured(content, environment);
  return problems.map(({ line, column, key, code }) => `${line === null ? key : `${line}:${column}`} ${code}`);
}

export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'tool-config-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
