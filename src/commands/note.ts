import { defineCommand } from '../cli/command.ts';
import { ORIGINAL, REQUIRED_SNAPSHOT, snapshotRequest, TARGET } from './shared-options.ts';

export const noteCommand = defineCommand({
  name: 'note',
  summary: 'write the note of a snapshot; an empty text removes it',
  group: 'Keep and share',
  arguments: [TARGET, REQUIRED_SNAPSHOT, { name: 'text', description: 'the note, in quotes', required: true }],
  options: [ORIGINAL],
  examples: [{ command: 'tool note app 0 "before the migration"', does: 'replace the note of the newest snapshot' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { annotatedText } = await import('../operations/snapshots/annotate/text.ts');
    const { annotate } = await import('../operations/snapshots/annotate/annotate.ts');
    const { target, text } = invocation.arguments;
    const snapshot = await annotate(await invocation.context(), { ...snapshotRequest(invocation), note: text });
    return { data: { target, snapshot }, text: annotatedText('note', target, snapshot) };
  },
});
