import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';

const specification = {
  name: 'branch prune',
  summary: 'drop branches without a git branch, or unused ones',
  group: 'Branches',
  arguments: [{ ...TARGET, description: 'name of a target; default: all', required: false }],
  options: [
    { flags: '--unused <age>', description: 'also drop branches unused for 14d, 8w, 6m', value: 'duration' },
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool branch prune --dry-run', does: 'print what would be dropped and kept, with reasons' },
    { command: 'tool branch prune app --unused 14d', does: 'also drop branches unused for two weeks' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchPruneCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { branchPruneOperation } = await import('../../operations/branch/prune/operation.ts');
  const { dryRun: _, unused: unusedMs, ...options } = invocation.options;
  return runPlanned(invocation, branchPruneOperation, { request: { ...invocation.arguments, ...options, unusedMs } });
}
