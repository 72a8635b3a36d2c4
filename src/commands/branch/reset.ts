import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DESTDB, DRY_RUN, TARGET } from '../shared-options.ts';
import { BRANCH, UNPROTECT } from './shared-options.ts';

export const branchResetCommand = defineCommand({
  name: 'branch reset',
  summary: 'restore a branch to the base copy',
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [
    { flags: '--all', description: 'reset all branches NAME_1 to NAME_n (created with --count)' },
    { flags: '--copy', description: 'replace the database, never in place' },
    DESTDB,
    UNPROTECT,
    DRY_RUN,
  ],
  examples: [
    { command: 'tool branch reset app login-form', does: 'restore the base copy' },
    { command: 'tool branch reset app --all test --yes', does: 'reset the branches of all test workers' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchResetOperation } = await import('../../operations/branch/reset/operation.ts');
    return runPlanned(invocation, branchResetOperation, { request: requestOf(invocation) });
  },
});
