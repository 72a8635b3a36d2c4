import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { shell } from '../text/shell-word.ts';
import { BRANCH_INSTEAD, DRY_RUN, TARGET } from './shared-options.ts';
import { wrongUsage } from './wrong-usage.ts';

export const saveCommand = defineCommand({
  name: 'save',
  summary: "store the destination's present state as a save, on this machine",
  group: 'Snapshots',
  arguments: [
    TARGET,
    {
      name: 'name',
      description: 'its name; default: the time; --remove needs it',
      required: false,
      complete: 'save to remove',
    },
  ],
  options: [
    BRANCH_INSTEAD,
    { flags: '--note <text>', description: 'a note' },
    { flags: '--remove', description: 'remove this save instead' },
    DRY_RUN,
  ],
  examples: [
    { command: 'tool save app before-migration', does: 'store the state of the destination' },
    { command: 'tool save app before-migration --remove', does: 'remove the save' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { target, name } = invocation.arguments;
    const { remove, ...request } = requestOf(invocation);
    const { saveOperation, saveRemovalOperation } = await import('../operations/save/operation.ts');
    if (!remove) return runPlanned(invocation, saveOperation, { request });
    if (name === undefined) {
      throw wrongUsage('--remove needs the name of the save', {
        hint: `List the saves: ${shell`tool back ${target} --list`}`,
      });
    }
    return runPlanned(invocation, saveRemovalOperation, { request: { target, name, branch: request.branch } });
  },
});
