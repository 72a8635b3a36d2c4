import { defineCommand } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { toSelector } from '../../text/snapshot-selector.ts';
import { DRY_RUN, PLACES, placeOf, REQUIRED_SNAPSHOT, TARGET } from '../shared-options.ts';

export const rmCommand = defineCommand({
  name: 'rm',
  summary: 'remove a snapshot and objects that no other snapshot needs',
  group: 'Keep and share',
  arguments: [TARGET, REQUIRED_SNAPSHOT],
  options: [...PLACES, { flags: '--pinned', description: 'remove the snapshot even if it is pinned' }, DRY_RUN],
  examples: [
    { command: 'tool rm app 3', does: 'remove the fourth newest snapshot' },
    { command: 'tool rm app 3 --local', does: 'remove it locally, keep it in the bucket' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { removeOperation } = await import('../../operations/remove/operation.ts');
    const { target, snapshot } = invocation.arguments;
    const { pinned = false } = invocation.options;
    const request = { target, snapshot: toSelector(snapshot), pinned, ...placeOf(invocation.options) };
    return runPlanned(invocation, removeOperation, { request });
  },
});
