import { defineCommand } from '../cli/command.ts';
import { wrongUsage } from './wrong-usage.ts';

export const agentCommand = defineCommand({
  name: 'agent',
  summary: 'run builds that the hub requests',
  group: 'Hub',
  options: [
    { flags: '--once', description: 'build what is due, then end' },
    { flags: '--verify-restore', description: 'restore each snapshot into a throw-away database, as a proof' },
    { flags: '--pool <name>', description: 'run builds of this pool; default "default"' },
  ],
  examples: [
    { command: 'tool agent', does: 'wait for builds, and run them' },
    { command: 'tool agent --once', does: 'run due builds from cron, with their exit code' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { once = false, verifyRestore = false, pool = 'default' } = invocation.options;
    const { is } = await import('valibot');
    const { poolName } = await import('../cloud/contract/builds.ts');
    if (!is(poolName, pool)) {
      throw wrongUsage(`"${pool}" is not the name of a pool`, {
        hint: 'A name has at most 40 lower-case letters, digits and hyphens.',
      });
    }
    const { runAgent } = await import('../operations/agent/agent.ts');
    const { sanitizeQuestion } = await import('../operations/sanitize/text.ts');
    const { agentText } = await import('../operations/agent/text.ts');
    const context = await invocation.context();
    const result = await runAgent(context, {
      pool,
      once,
      verifyRestore,
      approve: (plan) => invocation.confirm(sanitizeQuestion(plan, context.clock())),
    });
    const failed = result.builds.find(({ outcome }) => outcome === 'failed');
    return { data: result, text: agentText(result), ...(failed && { exit: failed.exit }) };
  },
});
