import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import { DRY_RUN, PLACES, placeOf, TARGET } from './shared-options.ts';

const specification = {
  name: 'prune',
  summary: 'remove the snapshots that no rule keeps, and the space that only they need',
  group: 'Keep and share',
  arguments: [{ ...TARGET, description: 'name of a target; default: every target', required: false }],
  options: [
    { flags: '--keep-last <n>', description: 'keep so many of the newest', value: 'count' },
    {
      flags: '--keep-within <age>',
      description: 'keep snapshots younger than 12h, 30d, 8w, 6m, 1y',
      value: 'duration',
    },
    {
      flags: '--keep-daily <n>',
      description: 'keep the newest of each of the last n days that have any',
      value: 'count',
    },
    { flags: '--keep-weekly <n>', description: 'the same by weeks', value: 'count' },
    { flags: '--keep-monthly <n>', description: 'the same by months', value: 'count' },
    ...PLACES,
    DRY_RUN,
  ],
  examples: [
    { command: 'tool prune --keep-last 5 --keep-within 30d --dry-run', does: 'what would go, of every target' },
    {
      command: 'tool prune app --keep-daily 7 --keep-weekly 4',
      does: 'a week of days and a month of weeks of "app"',
    },
    {
      command: 'tool prune orders --dry-run',
      does: 'what keep of cloud target "orders" removes at the next publication',
    },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const pruneCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { pruneOperation } = await import('../operations/prune/operation.ts');
  const { keepLast, keepWithin, keepDaily, keepWeekly, keepMonthly } = invocation.options;
  const keep = {
    ...(keepLast !== undefined && { last: keepLast }),
    ...(keepWithin !== undefined && { within: keepWithin }),
    ...(keepDaily !== undefined && { daily: keepDaily }),
    ...(keepWeekly !== undefined && { weekly: keepWeekly }),
    ...(keepMonthly !== undefined && { monthly: keepMonthly }),
  };
  return runPlanned(invocation, pruneOperation, {
    request: { ...invocation.arguments, keep, ...placeOf(invocation.options) },
  });
}
