import { defineCommand } from '../../cli/command.ts';
import { printable } from '../../text/printable.ts';
import { ALLOW_UNTRUSTED, ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from '../shared-options.ts';

export const pullCommand = defineCommand({
  name: 'pull',
  summary: 'copy the missing objects of a snapshot from its bucket',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [ORIGINAL, ALLOW_UNTRUSTED],
  examples: [{ command: 'tool pull app 2', does: 'pull the third newest; tool load also pulls' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { transferSummary } = await import('../../operations/snapshots/transfer/transfer-text.ts');
    const { pull } = await import('../../operations/snapshots/transfer/pull.ts');
    const { allowUntrusted = false } = invocation.options;
    const result = await pull(await invocation.context(), { ...snapshotRequest(invocation), allowUntrusted });
    return { data: result, text: printable(transferSummary('pull', result).line) };
  },
});
