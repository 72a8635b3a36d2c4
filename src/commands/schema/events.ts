import type { CommandModule, CommandSpec, Outcome } from '../../cli/command.ts';
import { readAsset } from '../../runtime/package-files.ts';

const specification = {
  name: 'schema events',
  summary: 'print the JSON Schema of the events and documents of --json',
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool schema events', does: 'print the schema' }],
  json: 'document',
} as const satisfies CommandSpec;

export const schemaEventsCommand: CommandModule = { ...specification, run };

async function run(): Promise<Outcome> {
  return { data: {}, text: readAsset('events.schema.json').trimEnd(), verbatim: true };
}
