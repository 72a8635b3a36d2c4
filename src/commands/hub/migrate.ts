import type { CommandModule, CommandSpec, Invocation, Outcome } from '../../cli/command.ts';

const specification = {
  name: 'hub migrate',
  summary: "update the schema of the hub's database",
  group: 'Hub',
  arguments: [],
  options: [],
  examples: [{ command: 'tool hub migrate', does: 'update the schema, and wrap data keys with the newest hub key' }],
  json: 'document',
} as const satisfies CommandSpec;

export const hubMigrateCommand: CommandModule = { ...specification, run };

async function run({ environment }: Invocation): Promise<Outcome> {
  const { migrate } = await import('../../../hub/migrate.ts');
  const result = await migrate(environment);
  const { migratedText } = await import('../../presentation/hub.ts');
  return { data: result, text: migratedText(result) };
}
