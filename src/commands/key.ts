import { defineCommand } from '../cli/command.ts';

export const keyCommand = defineCommand({
  name: 'key',
  summary: "print the public key that verifies this machine's snapshots",
  group: 'Set up',
  examples: [{ command: 'tool key', does: 'print the line for trusted_keys of other machines' }],
  json: 'document',
  async run({ environment }) {
    const { ownKey } = await import('../operations/key.ts');
    const key = await ownKey(environment);
    return { data: key, text: key.public_key };
  },
});
