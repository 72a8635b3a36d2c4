import { defineCommand } from '../../cli/command.ts';
import { toSelector } from '../../text/snapshot-selector.ts';
import { ALLOW_SUPERUSER, ALLOW_UNTRUSTED, SNAPSHOT, TARGET } from '../shared-options.ts';

export const sanitizeClassifyCommand = defineCommand({
  name: 'sanitize classify',
  summary: 'write sanitize.lock.yml: what the sanitized snapshot does with each column',
  group: 'Snapshots',
  arguments: [TARGET, SNAPSHOT],
  options: [ALLOW_SUPERUSER, ALLOW_UNTRUSTED],
  examples: [{ command: 'tool sanitize classify app', does: 'add the columns that are not in the ledger' }],
  json: 'events',
  async run(invocation) {
    const { classify } = await import('../../operations/sanitize/ledger/classify.ts');
    const { classifyText } = await import('../../operations/sanitize/ledger/text.ts');
    const { target, snapshot } = invocation.arguments;
    const result = await classify(await invocation.context(), {
      ...{ target, ...invocation.options },
      ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    });
    return { data: result, text: classifyText(result) };
  },
});
