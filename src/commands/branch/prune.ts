import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN, TARGET } from '../shared-options.ts';

export const branchPruneCommand = defineCommand({
  name: 'branch prune',
  summary: 'drop branches whose git branch or working tree is gone, expired and unused ones',
  group: 'Branches',
  arguments: [{ ...TARGET, description: 'name of a target; default: all', required: false }],
  options: [
    { flags: '--unused <age>', description: 'also drop branches unused for 14d, 8w, 6m', value: 'duration' },
    DRY_RUN,
  ],
  examples: [
    { command: 'tool branch prune --dry-run', does: 'print what would be dropped and kept, with reasons' },
    { command: 'tool branch prune app --unused 14d', does: 'also drop branches unused for two weeks' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchPruneOperation } = await import('../../operations/branch/prune/operation.ts');
    const { unused: unusedMs, ...request } = requestOf(invocation);
    return runPlanned(invocation, branchPruneOperation, { request: { ...request, unusedMs } });
  },
});
