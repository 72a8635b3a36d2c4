import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';
import { BRANCH, DESTDB } from './shared-options.ts';

const specification = {
  name: 'branch switch',
  summary: 'make a branch the destination database',
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [DESTDB, DRY_RUN, UNVERIFIED_SOURCES],
  examples: [
    { command: 'tool branch switch app login-form', does: 'let the application use the branch, with its present URL' },
    { command: 'tool branch switch app login-form --yes', does: 'switch in a script; tool undo app reverts it' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchSwitchCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { branchSwitchOperation } = await import('../../operations/branch/switch/operation.ts');
  const { dryRun: _, ...options } = invocation.options;
  return runPlanned(invocation, branchSwitchOperation, { request: { ...invocation.arguments, ...options } });
}
