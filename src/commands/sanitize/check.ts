import { resolve } from 'node:path';
import { defineCommand } from '../../cli/command.ts';
import { EXIT } from '../../runtime/errors.ts';
import { ALLOW_SUPERUSER, ALLOW_UNTRUSTED, BRANCH_INSTEAD, TARGET } from '../shared-options.ts';
import { wrongUsage } from '../wrong-usage.ts';

export const sanitizeCheckCommand = defineCommand({
  name: 'sanitize check',
  summary: 'find columns of the source that sanitize.lock.yml does not classify',
  group: 'Snapshots',
  arguments: [TARGET],
  options: [
    { flags: '--url <url>', description: 'another database instead of the source' },
    BRANCH_INSTEAD,
    { flags: '--migration <file>', description: 'a throw-away copy of the newest snapshot with this SQL file instead' },
    ALLOW_SUPERUSER,
    ALLOW_UNTRUSTED,
  ],
  examples: [
    { command: 'tool sanitize check app', does: 'fail when a column is not classified' },
    { command: 'tool sanitize check app --migration new.sql', does: 'check a migration before it is merged' },
  ],
  json: 'events',
  async run(invocation) {
    const { url, branch, migration, ...passed } = invocation.options;
    if ([url, branch, migration].filter((one) => one !== undefined).length > 1) {
      throw wrongUsage('--url, --branch and --migration exclude each other', { hint: 'Pass one of them.' });
    }
    const { checkLedger } = await import('../../operations/sanitize/ledger/check.ts');
    const { ledgerCheckText } = await import('../../operations/sanitize/ledger/text.ts');
    const result = await checkLedger(await invocation.context(), {
      ...{ target: invocation.arguments.target, url, branch, ...passed },
      ...(migration !== undefined && { migration: resolve(invocation.cwd, migration) }),
    });
    const exit = result.open.length === 0 ? EXIT.done : EXIT.failed;
    return { data: result, text: ledgerCheckText(result), quotes: true, exit };
  },
});
