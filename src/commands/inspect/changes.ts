import { resolve } from 'node:path';
import { defineCommand } from '../../cli/command.ts';
import { BRANCH_INSTEAD, TARGET } from '../shared-options.ts';

export const changesCommand = defineCommand({
  name: 'changes',
  summary: 'compare the destination with the last load, a save or a snapshot',
  group: 'Inspect',
  arguments: [TARGET],
  options: [
    { flags: '--since <point>', description: 'save or snapshot; default: the last load' },
    BRANCH_INSTEAD,
    {
      flags: '--table <names>',
      description: 'print changed rows of these; comma-separated, repeatable, * matches any characters',
      repeatable: true,
      complete: 'tables',
    },
    { flags: '--limit <n>', description: 'rows of each kind, at most 1000; default 10', value: 'count' },
    { flags: '--reveal', description: 'also print personal data' },
    { flags: '--sql <file>', description: 'write statements that repeat the changes; needs --reveal' },
  ],
  examples: [
    { command: 'tool changes app', does: 'count changed rows, show changed definitions' },
    {
      command: 'tool changes app --since before-migration --table public.orders',
      does: 'print changed rows',
    },
  ],
  json: 'document',
  async run(invocation) {
    const { changesText } = await import('../../cli/printers/lists.ts');
    const { readChanges } = await import('../../operations/changes/changes.ts');
    const { table: tables, sql, ...options } = invocation.options;
    const result = await readChanges(await invocation.context(), {
      ...{ target: invocation.arguments.target, ...options },
      ...(tables && { tables }),
      ...(sql !== undefined && { sql: resolve(invocation.cwd, sql) }),
    });
    return { data: result, text: changesText(result, invocation.tableOptions()) };
  },
});
