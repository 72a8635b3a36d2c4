import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import { UserError } from '../runtime/errors.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from './shared-options.ts';

const specification = {
  name: 'reset',
  summary: "restore a target's destination to its state after the last load, from its base copy",
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--destdb <url>', description: 'the destination, if it was loaded with --destdb' },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no undo copy' },
    { flags: '--spare', description: 'create a spare afterwards, for an instant next reset' },
    { flags: '--no-spare', description: 'create no spare, even if keep_spare is set' },
    { flags: '--drop', description: 'drop base copy and spare instead' },
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool reset app', does: 'restore the base copy' },
    { command: 'tool reset app --spare --yes', does: 'do it in a script, with a spare' },
    { command: 'tool reset app --drop', does: 'free the space of both copies' },
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
    hint: 'tool reset TARGET --drop',
  });
}
