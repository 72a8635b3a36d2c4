import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { CPUS, DRY_RUN, TARGET } from './shared-options.ts';

export const saveCommand = defineCommand({
  name: 'save',
  summary: "store the present state of a target's destination as a save, on this machine only",
  group: 'Snapshots',
  arguments: [TARGET, { name: 'name', description: 'name of the save; default: the time', required: false }],
  options: [
    { flags: '--note <text>', description: 'a note, shown in the list' },
    CPUS,
    { flags: '--full', description: 'read all rows, also those proved unchanged since the last save' },
    { flags: '--remove', description: 'remove the save NAME (or index; default the newest) instead' },
    DRY_RUN,
  ],
  examples: [
    { command: 'tool save app before-migration', does: 'store the state of the destination' },
    { command: 'tool save app', does: 'store it under the time' },
    { command: 'tool save app before-migration --remove', does: 'remove the save' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { remove, ...request } = requestOf(invocation);
    const { saveOperation, saveRemovalOperation } = await import('../operations/save/operation.ts');
    if (!remove) return runPlanned(invocation, saveOperation, { request });
    return runPlanned(invocation, saveRemovalOperation, { request: invocation.arguments });
  },
});
