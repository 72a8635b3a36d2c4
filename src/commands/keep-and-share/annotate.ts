import { defineCommand, type Invocation } from '../../cli/command.ts';
import type { AnnotateRequest } from '../../operations/snapshots/annotate/annotate.ts';
import { REQUIRED_SNAPSHOT, SNAPSHOT, snapshotRequest, TARGET } from '../shared-options.ts';

const CHANGES_ONE = { group: 'Keep and share', json: 'events', writes: true } as const;

export const pinCommand = defineCommand({
  ...CHANGES_ONE,
  name: 'pin',
  summary: 'protect a snapshot from prune, and from rm without --pinned',
  arguments: [TARGET, SNAPSHOT],
  examples: [{ command: 'tool pin app 3', does: 'protect the fourth newest snapshot' }],
  run: (invocation) => annotated(invocation, 'pin', { pinned: true }),
});

export const unpinCommand = defineCommand({
  ...CHANGES_ONE,
  name: 'unpin',
  summary: 'remove the protection of a pinned snapshot',
  arguments: [TARGET, SNAPSHOT],
  examples: [{ command: 'tool unpin app 8c41f2ab', does: 'unpin this snapshot' }],
  run: (invocation) => annotated(invocation, 'unpin', { pinned: false }),
});

export const tagCommand = defineCommand({
  ...CHANGES_ONE,
  name: 'tag',
  summary: 'add, remove or print tags of a snapshot',
  arguments: [
    TARGET,
    REQUIRED_SNAPSHOT,
    { name: 'tags', description: 'tags to add, such as a release', required: false, variadic: true },
  ],
  options: [{ flags: '--remove <tag>', description: 'remove a tag', repeatable: true }],
  examples: [
    { command: 'tool tag app 0 v2.4 demo', does: 'add two tags to the newest snapshot' },
    { command: 'tool tag app 0 --remove demo', does: 'remove a tag' },
  ],
  run(invocation) {
    const { tags: addTags = [] } = invocation.arguments;
    const { remove: removeTags = [] } = invocation.options;
    const isChanged = addTags.length + removeTags.length > 0;
    return annotated(invocation, 'tag', isChanged ? { addTags, removeTags } : null);
  },
});

export const noteCommand = defineCommand({
  ...CHANGES_ONE,
  name: 'note',
  summary: 'write the note of a snapshot; an empty text removes it',
  arguments: [TARGET, REQUIRED_SNAPSHOT, { name: 'text', description: 'the note, in quotes', required: true }],
  examples: [{ command: 'tool note app 0 "before the migration"', does: 'replace the note of the newest snapshot' }],
  run: (invocation) => annotated(invocation, 'note', { note: invocation.arguments.text }),
});

/** `null` changes nothing. */
async function annotated(
  {
    arguments: given,
    context: open,
  }: Pick<Invocation, 'context'> & Pick<Parameters<typeof snapshotRequest>[0], 'arguments'>,
  what: 'pin' | 'unpin' | 'tag' | 'note',
  change: Omit<AnnotateRequest, 'target'> | null,
) {
  const { annotatedText } = await import('../../operations/snapshots/annotate/text.ts');
  const { annotate } = await import('../../operations/snapshots/annotate/annotate.ts');
  const { findSnapshot } = await import('../../operations/snapshots/snapshots.ts');
  const context = await open();
  const request = snapshotRequest({ arguments: given });
  const snapshot = change
    ? await annotate(context, { ...request, ...change })
    : (await findSnapshot(context, request)).row;
  return { data: { target: request.target, snapshot }, text: annotatedText(what, request.target, snapshot) };
}
