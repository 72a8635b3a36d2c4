import { defineCommand } from '../../cli/command.ts';

export const hubMigrateCommand = defineCommand({
  name: 'hub migrate',
  summary: "update the schema of the hub's database",
  group: 'Hub',
  examples: [{ command: 'tool hub migrate', does: 'update the schema, and wrap data keys with the newest hub key' }],
  json: 'document',
  async run({ environment }) {
    const { migrate } = await import('../../../hub/migrate.ts');
    const result = await migrate(environment);
    const { migratedText } = await import('./text.ts');
    return { data: result, text: migratedText(result) };
  },
});
