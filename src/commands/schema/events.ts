import { defineCommand } from '../../cli/command.ts';
import { readAsset } from '../../runtime/package-files.ts';

export const schemaEventsCommand = defineCommand({
  name: 'schema events',
  summary: 'print the JSON Schema of the events and documents of --json',
  group: 'Set up',
  examples: [{ command: 'tool schema events', does: 'print the schema' }],
  json: 'document',
  async run() {
    return { data: {}, text: readAsset('events.schema.json').trimEnd(), verbatim: true };
  },
});
