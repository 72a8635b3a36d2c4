import { resolve } from 'node:path';
import { defineCommand } from '../cli/command.ts';
import { CPUS, TARGET } from './shared-options.ts';

export const changesCommand = defineCommand({
  name: 'changes',
  summary: 'compare the destination with the last load, a save or a snapshot, row by row',
  group: 'Inspect',
  arguments: [TARGET],
  options: [
    { flags: '--since <point>', description: 'name of a save, or a snapshot; default: the last load' },
    { flags: '--branch <name>', description: 'a branch instead of the destination' },
    {
      flags: '--table <names>',
      description: 'also print rows of these tables; comma-separated, repeatable, * matches any characters',
      repeatable: true,
      complete: 'tables',
    },
    { flags: '--limit <n>', description: 'rows of each kind and table, at most 1000; default 10', value: 'count' },
    { flags: '--reveal', description: 'also print values that look like personal data' },
    { flags: '--sql <file>', description: 'write the statements that make the changes of rows again' },
    CPUS,
  ],
  examples: [
    { command: 'tool changes app', does: 'count changed rows since the last load, show changed definitions' },
    {
      command: 'tool changes app --since before-migration --table public.orders',
      does: 'print changed rows of a table',
    },
  ],
  json: 'document',
  async run(invocation) {
    const { changesText } = await import('../cli/printers/lists.ts');
    const { readChanges } = await import('../operations/changes/changes.ts');
    const { table: tables, sql, ...options } = invocation.options;
    const result = await readChanges(await invocation.context(), {
      ...{ target: invocation.arguments.target, ...options },
      ...(tables && { tables }),
      ...(sql !== undefined && { sql: resolve(invocation.cwd, sql) }),
    });
    return { data: result, text: changesText(result, invocation.tableOptions()) };
  },
});
