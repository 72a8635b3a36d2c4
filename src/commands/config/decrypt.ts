import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';

const specification = {
  name: 'config decrypt',
  summary: 'print one value of the configuration, decrypted',
  group: 'Set up',
  arguments: [{ name: 'key', description: 'key of the value', required: true, complete: 'sensitive key' }],
  options: [],
  examples: [{ command: 'tool config decrypt authtoken', does: 'the token in plain' }],
  json: 'document',
} as const satisfies CommandSpec;

export const configDecryptCommand: CommandModule = { ...specification, run };

async function run({
  arguments: { key },
  globals,
  environment,
  cwd,
}: InvocationOf<typeof specification>): Promise<Outcome> {
  const { decryptValue } = await import('../../operations/configuration/secrets.ts');
  const value = await decryptValue({ key, file: globals.config, environment, cwd });
  // Printing the secret is the purpose of the command.
  return { data: {}, text: globals.json ? JSON.stringify({ key, value }) : value, verbatim: true };
}
