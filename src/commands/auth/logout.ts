import { defineCommand } from '../../cli/command.ts';
import { PROVIDER } from '../shared-options.ts';

export const authLogoutCommand = defineCommand({
  name: 'auth logout',
  summary: 'sign out, and revoke the tokens if the provider supports it',
  group: 'Sign in',
  arguments: [{ ...PROVIDER, description: 'identity provider of sso; default: all' }],
  examples: [{ command: 'tool auth logout', does: 'sign out of all providers' }],
  json: 'document',
  async run(invocation) {
    const { signedOutText } = await import('../../operations/sign-in/text.ts');
    const { signOut } = await import('../../operations/sign-in/sign-out.ts');
    const { endHubSession } = await import('../../operations/cloud/sign-in/end-hub-session.ts');
    const context = await invocation.context();
    const { provider } = invocation.arguments;
    const isOfHub = context.configuration.settings.sso.hub !== undefined && (provider ?? 'hub') === 'hub';
    if (isOfHub) await endHubSession(context);
    const ended = await signOut(context, { provider: invocation.arguments.provider });
    return { data: { signed_out: ended }, text: signedOutText(ended) };
  },
});
