import { defineCommand } from '../cli/command.ts';
import { ORIGINAL, REQUIRED_SNAPSHOT, snapshotRequest, TARGET } from './shared-options.ts';

export const tagCommand = defineCommand({
  name: 'tag',
  summary: 'add, remove or print tags of a snapshot',
  group: 'Keep and share',
  arguments: [
    TARGET,
    REQUIRED_SNAPSHOT,
    { name: 'tags', description: 'tags to add, such as a release', required: false, variadic: true },
  ],
  options: [{ flags: '--remove <tag>', description: 'remove a tag', repeatable: true }, ORIGINAL],
  examples: [
    { command: 'tool tag app 0 v2.4 demo', does: 'add two tags to the newest snapshot' },
    { command: 'tool tag app 0 --remove demo', does: 'remove a tag' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { annotatedText } = await import('../operations/snapshots/annotate/text.ts');
    const { annotate } = await import('../operations/snapshots/annotate/annotate.ts');
    const { findSnapshot } = await import('../operations/snapshots/snapshots.ts');
    const { target, tags = [] } = invocation.arguments;
    const { remove = [] } = invocation.options;
    const context = await invocation.context();
    const request = snapshotRequest(invocation);
    const snapshot =
      tags.length + remove.length > 0
        ? await annotate(context, { ...request, addTags: tags, removeTags: remove })
        : (await findSnapshot(context, request)).row;
    return { data: { target, snapshot }, text: annotatedText('tag', target, snapshot) };
  },
});
