import { defineCommand } from '../../../cli/command.ts';
import { wrongUsage } from '../../wrong-usage.ts';

const DEFAULT_DAYS = 90;

export const cloudTokenCreateCommand = defineCommand({
  name: 'cloud token create',
  summary: 'create a service token, shown once',
  group: 'Hub',
  arguments: [{ name: 'name', description: 'name of the token', required: true }],
  options: [
    { flags: '--target <name>', description: 'target of the hub; repeatable', repeatable: true },
    { flags: '--role <role>', description: 'builder (default) or reader', choices: ['builder', 'reader'] },
    { flags: '--days <n>', description: 'days until it expires, at most 366; default 90', value: 'count' },
  ],
  examples: [
    { command: 'tool cloud token create ci --target orders', does: 'allow CI to build and push "orders"' },
    {
      command: 'tool cloud token create staging --target orders --role reader --days 30',
      does: 'allow staging to load "orders"',
    },
  ],
  json: 'document',
  writes: true,
  async run(invocation) {
    const { target: targets = [], role = 'builder', days = DEFAULT_DAYS } = invocation.options;
    if (targets.length === 0) {
      throw wrongUsage('A service token needs a target', { code: 'invalid_value', hint: 'Add --target NAME.' });
    }
    const { createServiceToken } = await import('../../../operations/cloud/service-tokens.ts');
    const { tokenCreatedText } = await import('../../../operations/cloud/service-tokens-text.ts');
    const { name } = invocation.arguments;
    const created = await createServiceToken(await invocation.context(), { name, role, targets, days });
    return { data: created, text: tokenCreatedText(created) };
  },
});
