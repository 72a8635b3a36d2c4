import { defineCommand } from '../cli/command.ts';
import { wrongUsage } from './wrong-usage.ts';

export const mcpCommand = defineCommand({
  name: 'mcp',
  summary: 'serve coding agents over standard input and output (Model Context Protocol)',
  group: 'Branches',
  options: [
    {
      flags: '--allow <words>',
      description: 'allow credentials, originals, sources, pull, push, build, load; comma-separated, repeatable',
      repeatable: true,
    },
    { flags: '--as <name>', description: 'name of the owner of its branches; default: client, user and machine' },
  ],
  examples: [
    { command: 'tool mcp', does: 'let an agent list, compare and use its own branches' },
    { command: 'tool mcp --read-only', does: 'permit no changes' },
    { command: 'tool mcp --allow credentials,load', does: 'permit reading passwords of its branches, and loads' },
  ],
  json: 'document',
  async run(invocation) {
    const { options, globals, grammar, stdin, stdout, environment } = invocation;
    const { allow = [], as } = options;
    if (globals.json) {
      throw wrongUsage('tool mcp cannot be used with --json: its protocol uses standard output', {
        hint: 'Leave --json out: results have the shapes of --json.',
      });
    }
    if (as !== undefined && !/^[^\s\p{Control}\p{Format}][^\p{Control}\p{Format}]{0,99}$/u.test(as)) {
      throw wrongUsage('--as requires a name', { code: 'invalid_value', hint: 'Use 1 to 100 visible characters.' });
    }
    const { parseAllowances } = await import('../mcp/allowances.ts');
    const { serveMcp } = await import('../mcp/server.ts');
    const { userInfo } = await import('node:os');
    const allowed = parseAllowances(allow);
    const context = await invocation.context();
    const user = environment.USER || environment.USERNAME || String(userInfo().uid);
    const { settings } = context.configuration;
    const debug = globals.debug || settings.debug || settings.trace;
    const { readOnly } = globals;
    await serveMcp(context, { allow: allowed, as, readOnly, debug, user, version: grammar.version, stdin, stdout });
    return { data: {}, text: '' };
  },
});
