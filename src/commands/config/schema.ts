import type { CommandModule, CommandSpec, Outcome } from '../../cli/command.ts';
import { readAsset } from '../../runtime/package-files.ts';

const specification = {
  name: 'config schema',
  summary: 'print the JSON Schema of the configuration, for editors',
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool config schema', does: 'print the schema' }],
  json: 'document',
} as const satisfies CommandSpec;

export const configSchemaCommand: CommandModule = { ...specification, run };

async function run(): Promise<Outcome> {
  return { data: {}, text: readAsset('tool.schema.json').trimEnd(), verbatim: true };
}
