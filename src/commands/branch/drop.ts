import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DESTDB, DRY_RUN, TARGET } from '../shared-options.ts';
import { UNPROTECT } from './shared-options.ts';

export const branchDropCommand = defineCommand({
  name: 'branch drop',
  summary: 'drop branches',
  group: 'Branches',
  arguments: [
    { ...TARGET, description: 'name of a target; default with one name: the only one' },
    { name: 'names', description: 'names of branches', required: true, variadic: true },
  ],
  options: [UNPROTECT, DESTDB, DRY_RUN],
  examples: [
    { command: 'tool branch drop app login-form', does: 'drop the branch and its database' },
    { command: 'tool branch drop app test_1 test_2 --yes', does: 'drop two branches in a script' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchDropOperation } = await import('../../operations/branch/drop/operation.ts');
    return runPlanned(invocation, branchDropOperation, { request: requestOf(invocation) });
  },
});
