import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { DRY_RUN, TARGET } from './shared-options.ts';

export const linkCommand = defineCommand({
  name: 'link',
  summary: 'give each git working tree a database of its own, named in its .env file',
  group: 'Branches',
  arguments: [TARGET],
  options: [
    { flags: '--file <file>', description: 'untracked file with the URL of the application, such as .env.local' },
    { flags: '--key <name>', description: 'its variable (DATABASE_URL), or path in YAML (development.database)' },
    DRY_RUN,
  ],
  examples: [{ command: 'tool link app', does: 'show what it will write, and write it after confirmation' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { linkOperation } = await import('../operations/link/operation.ts');
    const request = { ...requestOf(invocation), config: invocation.globals.config };
    return runPlanned(invocation, linkOperation, { request });
  },
});

export const unlinkCommand = defineCommand({
  name: 'unlink',
  summary: 'remove what tool link has written; branches stay',
  group: 'Branches',
  options: [DRY_RUN],
  examples: [{ command: 'tool unlink', does: 'show what it will remove, and remove it after confirmation' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { unlinkOperation } = await import('../operations/link/operation.ts');
    return runPlanned(invocation, unlinkOperation, { request: requestOf(invocation) });
  },
});
