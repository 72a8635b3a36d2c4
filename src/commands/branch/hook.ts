import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN, TARGET } from '../shared-options.ts';
import { MAIN } from './shared-options.ts';

export const branchHookCommand = defineCommand({
  name: 'branch hook',
  summary: 'install a git hook that runs branch checkout after each git checkout',
  group: 'Branches',
  arguments: [TARGET],
  options: [MAIN, { flags: '--remove', description: 'remove the hook; other lines of the file stay' }, DRY_RUN],
  examples: [
    { command: 'tool branch hook app', does: 'show the lines, and write them after confirmation' },
    { command: 'tool branch hook app --remove', does: 'remove the lines' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchHookOperation } = await import('../../operations/branch/hook/operation.ts');
    const request = { ...requestOf(invocation), config: invocation.globals.config };
    return runPlanned(invocation, branchHookOperation, { request });
  },
});
