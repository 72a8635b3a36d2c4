import { defineCommand } from '../../cli/command.ts';
import { printable } from '../../text/printable.ts';
import { ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from '../shared-options.ts';

export const pushCommand = defineCommand({
  name: 'push',
  summary: 'copy the missing objects of a snapshot to its bucket',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [ORIGINAL],
  examples: [{ command: 'tool push app', does: 'push the newest snapshot, or resume its push' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { transferSummary } = await import('../../operations/snapshots/transfer/transfer-text.ts');
    const { push } = await import('../../operations/snapshots/transfer/push.ts');
    const result = await push(await invocation.context(), snapshotRequest(invocation));
    return { data: result, text: printable(transferSummary('push', result).line) };
  },
});
