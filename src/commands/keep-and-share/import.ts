import { resolve } from 'node:path';
import { defineCommand } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { ALLOW_UNTRUSTED, DRY_RUN } from '../shared-options.ts';

export const importCommand = defineCommand({
  name: 'import',
  summary: 'import an exported snapshot, or a dump of pg_dump, mysqldump or mariadb-dump as a snapshot',
  group: 'Keep and share',
  arguments: [{ name: 'file', description: 'file of tool export, or file or folder of a dump', required: true }],
  options: [
    {
      flags: '--target <name>',
      description: 'target of the snapshot; default: the original one; required for a dump',
    },
    DRY_RUN,
    ALLOW_UNTRUSTED,
  ],
  examples: [
    { command: 'tool import app.zip', does: 'add the snapshot to the local repository' },
    { command: 'tool import app.dump --target app', does: 'make a snapshot from a dump of pg_dump' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { importOperation } = await import('../../operations/import/operation.ts');
    const { target, allowUntrusted = false } = invocation.options;
    const file = resolve(invocation.cwd, invocation.arguments.file);
    const request = { file, allowUntrusted, ...(target !== undefined && { target }) };
    return runPlanned(invocation, importOperation, { request });
  },
});
