import { defineCommand } from '../../cli/command.ts';

export const authStatusCommand = defineCommand({
  name: 'auth status',
  summary: 'show who is signed in, with groups and expiry',
  group: 'Sign in',
  examples: [{ command: 'tool auth status --json', does: 'print JSON for scripts' }],
  json: 'document',
  async run(invocation) {
    const { signInStatusText } = await import('../../operations/sign-in/text.ts');
    const { signInStatus } = await import('../../operations/sign-in/sign-in-status.ts');
    const context = await invocation.context();
    const providers = await signInStatus(context);
    const cloud = context.configuration.settings.authtoken !== undefined;
    return { data: { providers, authtoken: cloud }, text: signInStatusText(providers, { cloud }) };
  },
});
