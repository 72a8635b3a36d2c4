import { defineCommand } from '../../cli/command.ts';

export const cloudShowCommand = defineCommand({
  name: 'cloud show',
  summary: 'print storage profiles and targets of the hub, without secrets',
  group: 'Hub',
  examples: [{ command: 'tool cloud show', does: 'print a file for tool cloud apply' }],
  json: 'document',
  async run(invocation) {
    const { hubContentText } = await import('../../operations/cloud/show-text.ts');
    const { showHub } = await import('../../operations/cloud/show.ts');
    const content = await showHub(await invocation.context());
    return { data: content, text: hubContentText(content), quotes: true };
  },
});
