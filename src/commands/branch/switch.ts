import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DESTDB, DRY_RUN, NO_AUTOSAVE, TARGET } from '../shared-options.ts';
import { BRANCH } from './shared-options.ts';

export const branchSwitchCommand = defineCommand({
  name: 'branch switch',
  summary: 'make a branch the destination database',
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [DESTDB, NO_AUTOSAVE, DRY_RUN],
  examples: [
    {
      command: 'tool branch switch app login-form',
      does: 'make the branch the destination; the application keeps its URL',
    },
    { command: 'tool branch switch app login-form --yes', does: 'switch in a script; tool undo app reverts it' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchSwitchOperation } = await import('../../operations/branch/switch/operation.ts');
    return runPlanned(invocation, branchSwitchOperation, { request: requestOf(invocation) });
  },
});
