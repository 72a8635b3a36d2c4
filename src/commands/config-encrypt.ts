import { encryptValues } from '../operations/secrets.ts';
import type { Invocation, Outcome } from './command.ts';

interface Arguments {
  keys?: string[];
}

interface Options {
  dryRun?: boolean;
}

export async function run({
  arguments: given,
  options,
  globals,
  environment,
  cwd,
}: Invocation<Arguments, Options>): Promise<Outcome> {
  const { dryRun = false } = options;
  const result = await encryptValues({ keys: given.keys ?? [], dryRun, file: globals.config, environment, cwd });
  const { file, encrypted, skipped } = result;
  const done = dryRun ? 'Would encrypt' : 'Encrypted';
  const lines = [
    ...encrypted.map((key) => `${done} ${key}`),
    ...skipped.map((key) => `Left ${key} as it is: nothing in it is plain`),
  ];
  return { data: result, text: (lines.length > 0 ? lines : [`Nothing in ${file} is sensitive and plain`]).join('\n') };
}
