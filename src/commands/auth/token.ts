import { text } from 'node:stream/consumers';
import { defineCommand } from '../../cli/command.ts';

export const authTokenCommand = defineCommand({
  name: 'auth token',
  summary: 'store the cloud token in the configuration, encrypted',
  group: 'Sign in',
  arguments: [
    {
      name: 'token',
      description: 'the token, or - to read it from standard input, which keeps it out of the shell history',
      required: true,
    },
  ],
  options: [{ flags: '--hub <url>', description: 'address of the hub, stored as base_url' }],
  examples: [
    { command: 'tool auth token -', does: 'read it from standard input' },
    { command: 'tool auth token - --hub http://127.0.0.1:3000', does: "also store the hub's address" },
  ],
  json: 'document',
  async run(invocation) {
    const { tokenStoredText } = await import('../../operations/sign-in/text.ts');
    const { saveAuthtoken } = await import('../../operations/sign-in/save-authtoken.ts');
    const { arguments: given, options, stdin } = invocation;
    const context = await invocation.context();
    const token = given.token === '-' ? (await text(stdin)).trim() : given.token;
    const file = await saveAuthtoken(context, { token, hub: options.hub });
    return { data: { file, encrypted: ['authtoken'] }, text: tokenStoredText(file) };
  },
});
