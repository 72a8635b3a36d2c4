import { defineCommand } from '../../cli/command.ts';
import { readAsset } from '../../runtime/package-files.ts';

export const configSchemaCommand = defineCommand({
  name: 'config schema',
  summary: 'print the JSON Schema of the configuration, for editors',
  group: 'Set up',
  examples: [{ command: 'tool config schema', does: 'print the schema' }],
  json: 'document',
  async run() {
    return { data: {}, text: readAsset('tool.schema.json').trimEnd(), verbatim: true };
  },
});
