import { defineCommand } from '../../cli/command.ts';

export const configDecryptCommand = defineCommand({
  name: 'config decrypt',
  summary: 'print one value of the configuration, decrypted',
  group: 'Set up',
  arguments: [{ name: 'key', description: 'key of the value', required: true, complete: 'sensitive key' }],
  examples: [{ command: 'tool config decrypt authtoken', does: 'print the token' }],
  json: 'document',
  async run({ arguments: { key }, globals, environment, cwd }) {
    const { decryptValue } = await import('../../operations/configuration/secrets.ts');
    const value = await decryptValue({ key, file: globals.config, environment, cwd });
    // Printing the secret is the purpose of the command.
    return { data: {}, text: globals.json ? JSON.stringify({ key, value }) : value, verbatim: true };
  },
});
