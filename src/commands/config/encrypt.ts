import type { Invocation, Outcome } from '../../cli/command.ts';
import type { Skipped } from '../../config/secrets/sensitive-values.ts';
import { encryptValues } from '../../operations/configuration/secrets.ts';

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
    ...skipped.map(({ key, reason }) => `Left ${key} as it is: ${REASONS[reason]}`),
  ];
  return { data: result, text: (lines.length > 0 ? lines : [`${file} holds nothing sensitive`]).join('\n') };
}

const REASONS: Record<Skipped, string> = {
  encrypted: 'it is encrypted',
  template: 'its password comes from a template',
  no_password: 'it holds no password',
};
