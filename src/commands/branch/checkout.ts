import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN, TARGET } from '../shared-options.ts';
import { MAIN } from './shared-options.ts';

export const branchCheckoutCommand = defineCommand({
  name: 'branch checkout',
  summary: 'switch the destination to the branch of the checked-out git branch, created if missing',
  group: 'Branches',
  arguments: [TARGET],
  options: [
    MAIN,
    {
      flags: '--only-destination <url>',
      description: 'for the git hook: switch only this destination, if it has a base copy or branches',
    },
    { flags: '--tree <folder>', description: 'for the git hook: the working tree; default: the current folder' },
    DRY_RUN,
  ],
  examples: [
    { command: 'tool branch checkout app', does: 'switch to the branch of the git branch' },
    {
      command: 'tool branch checkout app --main develop',
      does: 'on develop, return to the original destination',
    },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchCheckoutOperation } = await import('../../operations/branch/checkout/operation.ts');
    return runPlanned(invocation, branchCheckoutOperation, { request: requestOf(invocation) });
  },
});
