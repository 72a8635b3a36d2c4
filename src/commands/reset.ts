import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';

const specification = {
  name: 'reset',
  summary: "restore a target's destination database to its state right after its last load, from its base copy",
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--destdb <url>', description: 'the destination that was loaded with --destdb' },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no copy of the database that is replaced' },
    { flags: '--spare', description: 'create a spare afterwards, with which the next reset is a mere rename' },
    { flags: '--no-spare', description: 'create no spare, although keep_spare is set' },
    { flags: '--drop', description: 'drop the base copy and the spare instead' },
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool reset app', does: 'the destination of "app" as after its last load with --keep-base' },
    { command: 'tool reset app --spare --yes', does: 'the same in a script, with a spare for the next time' },
    { command: 'tool reset app --drop', does: 'free the space of the base copy and the spare' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const resetCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { dryRun: _, drop, ...options } = invocation.options;
  const { undo, spare, destdb, unverifiedSources } = options;
  if (!drop) {
    const { resetOperation } = await import('../operations/reset/operation.ts');
    return runPlanned(invocation, resetOperation, { request: { ...invocation.arguments, ...options } });
  }
  if (spare !== undefined || !undo) throw dropAlone();
  const { dropCopiesOperation } = await import('../operations/drop-copies/operation.ts');
  const request = { ...invocation.arguments, ...(destdb !== undefined && { destdb }), unverifiedSources };
  return runPlanned(invocation, dropCopiesOperation, { request });
}

function dropAlone(): UserError {
  return new UserError('--drop resets nothing, so --spare and --no-undo are not for it', {
    code: 'usage',
    exit: EXIT.usage,
    hint: 'tool reset TARGET --drop',
  });
}
