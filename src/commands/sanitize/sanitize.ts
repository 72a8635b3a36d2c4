import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { SUMMARY } from '../../cli/summary-file.ts';
import { toSelector } from '../../text/snapshot-selector.ts';
import { ALLOW_SUPERUSER, ALLOW_UNTRUSTED, CPUS, DRY_RUN, NO_PUSH, SNAPSHOT, TARGET } from '../shared-options.ts';

export const sanitizeCommand = defineCommand({
  name: 'sanitize',
  summary: 'run the sanitization query on a copy of a snapshot, and store the result',
  group: 'Snapshots',
  arguments: [TARGET, SNAPSHOT],
  options: [
    { flags: '-n, --new', description: 'build a snapshot first' },
    { flags: '-e, --ephemeral', description: 'use a throw-away database, even if sanitize.dst_url is set' },
    { flags: '--strict', description: 'fail while columns that look like personal data are unchanged' },
    {
      flags: '--canaries <n>',
      description: 'first run the query on a copy with n synthetic persons, and search the result for their values',
      value: 'count',
    },
    ALLOW_SUPERUSER,
    { flags: '--suggest', description: 'print a suggested query, and store nothing' },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no undo copy' },
    NO_PUSH,
    ALLOW_UNTRUSTED,
    SUMMARY,
    CPUS,
  ],
  examples: [
    { command: 'tool sanitize app', does: 'sanitize the newest snapshot' },
    {
      command: 'tool sanitize app --dry-run',
      does: 'print the query, its statements and its database',
    },
    { command: 'tool sanitize app --suggest', does: 'print a query to review and edit' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { new: buildFirst, suggest, snapshot, ...passed } = requestOf(invocation);
    const request = {
      ...passed,
      ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
      ...(buildFirst && { build: {} }),
    };
    if (suggest) {
      const { suggest: suggestQuery } = await import('../../operations/sanitize/suggest.ts');
      const suggestion = await suggestQuery(await invocation.context(), request);
      return { data: suggestion, text: suggestion.query };
    }
    const { sanitizeOperation } = await import('../../operations/sanitize/operation.ts');
    const { coverageText } = await import('../../cli/printers/lists.ts');
    const { summaryText } = await import('../../presentation/shapes/summary.ts');
    return runPlanned(invocation, sanitizeOperation, {
      request,
      text: (result, plan) =>
        [
          summaryText(sanitizeOperation.summary(result, plan)),
          coverageText(result.coverage, invocation.tableOptions()),
        ].join('\n'),
      summary: ({ snapshot: sanitized, coverage }, { target }) => ({ target, snapshot: sanitized, coverage }),
    });
  },
});
