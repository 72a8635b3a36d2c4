import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN, TARGET } from '../shared-options.ts';
import { MAIN } from './shared-options.ts';

const specification = {
  name: 'branch hook',
  summary: 'install a git hook that runs branch checkout after each git checkout',
  group: 'Branches',
  arguments: [TARGET],
  options: [MAIN, { flags: '--remove', description: 'remove the hook; other lines of the file stay' }, DRY_RUN],
  examples: [
    { command: 'tool branch hook app', does: 'show the lines, and write them after a yes' },
    { command: 'tool branch hook app --remove', does: 'remove the lines' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchHookCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { branchHookOperation } = await import('../../operations/branch/hook/operation.ts');
  const { dryRun: _, ...options } = invocation.options;
  const { config } = invocation.globals;
  return runPlanned(invocation, branchHookOperation, { request: { ...invocation.arguments, ...options, config } });
}
