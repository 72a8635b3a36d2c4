import { defineCommand } from '../cli/command.ts';
import { ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from './shared-options.ts';

export const pinCommand = defineCommand({
  name: 'pin',
  summary: 'protect a snapshot from prune, and from rm without --pinned',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [ORIGINAL],
  examples: [{ command: 'tool pin app 3', does: 'protect the fourth newest snapshot' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { annotatedText } = await import('../operations/snapshots/annotate/text.ts');
    const { annotate } = await import('../operations/snapshots/annotate/annotate.ts');
    const { target } = invocation.arguments;
    const snapshot = await annotate(await invocation.context(), { ...snapshotRequest(invocation), pinned: true });
    return { data: { target, snapshot }, text: annotatedText('pin', target, snapshot) };
  },
});
