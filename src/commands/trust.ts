import type { CommandModule, CommandSpec, Invocation, Outcome } from '../cli/command.ts';

const specification = {
  name: 'trust',
  summary: "print this machine's public key, which signs every snapshot that it builds",
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool trust', does: 'the line to put into trusted_keys of those who load its snapshots' }],
  json: 'document',
} as const satisfies CommandSpec;

export const trustCommand: CommandModule = { ...specification, run };

async function run({ environment }: Invocation): Promise<Outcome> {
  const { ownKey } = await import('../operations/trust.ts');
  const key = await ownKey(environment);
  return { data: key, text: key.public_key };
}
