import { defineCommand } from '../cli/command.ts';
import { ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from './shared-options.ts';

export const unpinCommand = defineCommand({
  name: 'unpin',
  summary: 'remove the protection of a pinned snapshot',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [ORIGINAL],
  examples: [{ command: 'tool unpin app 8c41f2ab', does: 'unpin this snapshot' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { annotatedText } = await import('../operations/snapshots/annotate/text.ts');
    const { annotate } = await import('../operations/snapshots/annotate/annotate.ts');
    const { target } = invocation.arguments;
    const snapshot = await annotate(await invocation.context(), { ...snapshotRequest(invocation), pinned: false });
    return { data: { target, snapshot }, text: annotatedText('unpin', target, snapshot) };
  },
});
