import type { CommandModule, CommandSpec, Invocation, Outcome } from '../cli/command.ts';

const specification = {
  name: 'key',
  summary: "print this machine's public key, which signs every snapshot that it builds",
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool key', does: 'the line to put into trusted_keys of those who load its snapshots' }],
  json: 'document',
} as const satisfies CommandSpec;

export const keyCommand: CommandModule = { ...specification, run };

async function run({ environment }: Invocation): Promise<Outcome> {
  const { ownKey } = await import('../operations/key.ts');
  const key = await ownKey(environment);
  return { data: key, text: key.public_key };
}
