import { defineCommand } from '../../cli/command.ts';
import { PROVIDER } from '../shared-options.ts';

export const authLoginCommand = defineCommand({
  name: 'auth login',
  summary: 'sign in with an identity provider, in the browser',
  group: 'Sign in',
  arguments: [PROVIDER],
  options: [{ flags: '--device', description: 'use a code in a browser on any machine' }],
  examples: [
    { command: 'tool auth login', does: 'open the browser, and print the URL' },
    { command: 'tool auth login hub', does: "sign in to the team's hub, and store its token" },
    { command: 'tool auth login idp --device', does: 'print a URL and a code' },
  ],
  json: 'events',
  async run(invocation) {
    const { signedInLine } = await import('../../operations/sign-in/text.ts');
    const { signInWith } = await import('../../operations/cloud/sign-in/sign-in-choices.ts');
    const { arguments: given, options } = invocation;
    const context = await invocation.context();
    const { device = false } = options;
    const result = await signInWith(context, { provider: given.provider, device });
    return { data: result, text: signedInLine(result) };
  },
});
