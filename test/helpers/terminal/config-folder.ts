import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Configuration } from '../../../src/config/configuration.ts';
import { type Inspection, inspectConfiguration, loadConfiguration } from '../../../src/config/load.ts';
import type { Problem } from '../../../src/results/configuration/configuration-results.ts';

export const SECRET_KEY = '0123456789abcdef0123456789abcdef';

/** A folder of the test's own with configuration files in it; it is also the home directory. */
export interface ConfigFolder {
  path: string;
  write(name: string, content: string | Uint8Array): Promise<void>;
  inspect(change?: Change): Promise<Inspection>;
  load(change?: Change): Promise<Configuration>;
}

interface Change {
  file?: string;
  environment?: NodeJS.ProcessEnv;
  cwd?: string;
}

export async function configFolder(files: Record<string, string | Uint8Array>): Promise<ConfigFolder> {
  const path = await mkdtemp(join(tmpdir(), 'tool-config-'));
  onTestFinished(() => rm(path, { recursive: true }));
  const write = async (name: string, content: string | Uint8Array) => {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content, { mode: 0o600 });
  };
  for (const [name, content] of Object.entries(files)) await write(name, content);
  const request = ({ environment = {}, ...change }: Change = {}) => ({
    cwd: path,
    environment: { HOME: path, TOOL_TRUST: 'true', ...environment },
    ...change,
  });
  return {
    path,
    write,
    inspect: (change) => inspectConfiguration(request(change)),
    load: (change) => loadConfiguration(request(change)),
  };
}

/** A valid configuration with the lines in it. */
export function withKey(text: string): string {
  return `secret_key: "${SECRET_KEY}"\n${text}`;
}

/** Problems as a person reads them: `3:5 unknown_key unknown key x`, or without a place those of variables. */
export function summary(problems: Problem[]): string[] {
  return problems.map(({ line, column, code, message }) =>
    [line === null ? '' : `${line}:${column}`, code, message].filter((part) => part !== '').join(' '),
  );
}
