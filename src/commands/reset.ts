import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { DESTDB, DRY_RUN, TARGET } from './shared-options.ts';
import { wrongUsage } from './wrong-usage.ts';

export const resetCommand = defineCommand({
  name: 'reset',
  summary: "restore a target's destination to its state after the last load, from its base copy",
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    DESTDB,
    DRY_RUN,
    { flags: '--copy', description: 'replace the database, never in place' },
    { flags: '--no-undo', description: 'keep no undo copy' },
    { flags: '--spare', description: 'create a spare afterwards, for an instant next reset' },
    { flags: '--drop', description: 'drop base copy and spare instead' },
  ],
  examples: [
    { command: 'tool reset app', does: 'restore the base copy' },
    { command: 'tool reset app --spare --yes', does: 'reset in a script, and create a spare' },
    { command: 'tool reset app --drop', does: 'free the space of both copies' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { drop, ...request } = requestOf(invocation);
    const { target, undo, spare, destdb } = request;
    if (!drop) {
      const { resetOperation } = await import('../operations/reset/operation.ts');
      return runPlanned(invocation, resetOperation, { request });
    }
    if (spare !== undefined || !undo) {
      throw wrongUsage('--drop resets nothing: leave --spare and --no-undo out', { hint: 'tool reset TARGET --drop' });
    }
    const { dropCopiesOperation } = await import('../operations/drop-copies/operation.ts');
    return runPlanned(invocation, dropCopiesOperation, {
      request: { target, ...(destdb !== undefined && { destdb }) },
    });
  },
});
