import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DESTDB, DRY_RUN, TARGET } from '../shared-options.ts';
import { BRANCH } from './shared-options.ts';

export const branchServeCommand = defineCommand({
  name: 'branch serve',
  summary: 'reset branches on request, over connections that stay open',
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [
    { flags: '--tcp', description: 'listen on a port of 127.0.0.1, with a token; default: a socket' },
    DESTDB,
    DRY_RUN,
  ],
  examples: [
    { command: 'tool branch serve app test --yes', does: 'answer POST /reset/3 for test_3' },
    { command: 'tool branch serve app test --tcp --yes --json', does: 'print address and token' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchServeOperation } = await import('../../operations/branch/serve/operation.ts');
    return runPlanned(invocation, branchServeOperation, { request: requestOf(invocation) });
  },
});
