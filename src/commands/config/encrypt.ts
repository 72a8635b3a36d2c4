import { defineCommand } from '../../cli/command.ts';

export const configEncryptCommand = defineCommand({
  name: 'config encrypt',
  summary: 'encrypt sensitive values of the configuration file in place',
  group: 'Set up',
  arguments: [
    {
      name: 'keys',
      description: 'keys to encrypt; default: all sensitive ones',
      required: false,
      complete: 'sensitive key',
      variadic: true,
    },
  ],
  options: [{ flags: '--dry-run', description: 'list the keys, change nothing' }],
  examples: [
    { command: 'tool config encrypt', does: 'encrypt all plain passwords, tokens and keys' },
    { command: 'tool config encrypt storage_profiles.team.secret_key', does: 'encrypt this key only' },
  ],
  json: 'document',
  async run({ arguments: given, options, globals, environment, cwd }) {
    const { encryptedText } = await import('../../operations/configuration/text.ts');
    const { encryptValues } = await import('../../operations/configuration/secrets.ts');
    const { dryRun = false } = options;
    const result = await encryptValues({ keys: given.keys ?? [], dryRun, file: globals.config, environment, cwd });
    return { data: result, text: encryptedText(result, { dryRun }) };
  },
});
