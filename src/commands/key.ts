import type { CommandModule, CommandSpec, Invocation, Outcome } from '../cli/command.ts';

const specification = {
  name: 'key',
  summary: "print the public key that verifies this machine's snapshots",
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool key', does: 'print the line for trusted_keys of other machines' }],
  json: 'document',
} as const satisfies CommandSpec;

export const keyCommand: CommandModule = { ...specification, run };

async function run({ environment }: Invocation): Promise<Outcome> {
  const { ownKey } = await import('../operations/key.ts');
  const key = await ownKey(environment);
  return { data: key, text: key.public_key };
}
