import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { DESTDB, DRY_RUN, TARGET } from './shared-options.ts';

export const undoCommand = defineCommand({
  name: 'undo',
  summary: 'restore the database that the last load replaced',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [DESTDB, DRY_RUN],
  examples: [{ command: 'tool undo app', does: 'restore the previous destination' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { undoOperation } = await import('../operations/undo/operation.ts');
    return runPlanned(invocation, undoOperation, { request: requestOf(invocation) });
  },
});
