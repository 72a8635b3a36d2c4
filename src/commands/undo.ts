import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';

const specification = {
  name: 'undo',
  summary: 'restore the database that the last load replaced',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--destdb <url>', description: 'the destination, if it was loaded with --destdb' },
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [{ command: 'tool undo app', does: 'restore the previous destination' }],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const undoCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { undoOperation } = await import('../operations/undo/operation.ts');
  const { dryRun: _, ...options } = invocation.options;
  return runPlanned(invocation, undoOperation, { request: { ...invocation.arguments, ...options } });
}
