import { defineCommand } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { DRY_RUN } from '../shared-options.ts';

export const cloudApplyCommand = defineCommand({
  name: 'cloud apply',
  summary: 'write storage profiles and targets of a file to the hub',
  group: 'Hub',
  arguments: [{ name: 'file', description: 'file with the keys of tool.yml', required: true }],
  options: [DRY_RUN, { flags: '--overwrite', description: 'overwrite later changes on the hub' }],
  examples: [
    { command: 'tool cloud apply hub.yml --dry-run', does: 'print what would change' },
    { command: 'tool cloud apply hub.yml', does: 'print the changes, and apply them' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { cloudApplyOperation } = await import('../../operations/cloud/apply/operation.ts');
    const { arguments: given, options, cwd } = invocation;
    return runPlanned(invocation, cloudApplyOperation, {
      request: { file: given.file, cwd, overwrite: options.overwrite ?? false },
    });
  },
});
