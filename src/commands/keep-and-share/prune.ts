import { defineCommand } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN, PLACES, placeOf, TARGET } from '../shared-options.ts';

export const pruneCommand = defineCommand({
  name: 'prune',
  summary: 'remove snapshots that no --keep rule keeps, and their objects',
  group: 'Keep and share',
  arguments: [{ ...TARGET, description: 'name of a target; default: all', required: false }],
  options: [
    { flags: '--keep-last <n>', description: 'keep the newest n', value: 'count' },
    {
      flags: '--keep-within <age>',
      description: 'keep snapshots younger than 12h, 30d, 8w, 6m, 1y',
      value: 'duration',
    },
    {
      flags: '--keep-daily <n>',
      description: 'keep the newest of each of the last n days',
      value: 'count',
    },
    { flags: '--keep-weekly <n>', description: 'keep the newest of each of the last n weeks', value: 'count' },
    { flags: '--keep-monthly <n>', description: 'keep the newest of each of the last n months', value: 'count' },
    ...PLACES,
    DRY_RUN,
  ],
  examples: [
    {
      command: 'tool prune --keep-last 5 --keep-within 30d --dry-run',
      does: 'print what would be removed, of all targets',
    },
    {
      command: 'tool prune app --keep-daily 7 --keep-weekly 4',
      does: 'keep seven days and four weeks',
    },
    {
      command: 'tool prune orders --dry-run',
      does: 'print what the rules of a cloud target would remove',
    },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { pruneOperation } = await import('../../operations/prune/operation.ts');
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
  },
});
