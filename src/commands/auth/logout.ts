import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { PROVIDER } from '../shared-options.ts';

const specification = {
  name: 'auth logout',
  summary: 'sign out, and revoke the tokens if the provider supports it',
  group: 'Sign in',
  arguments: [{ ...PROVIDER, description: 'identity provider of sso; default: all' }],
  options: [],
  examples: [{ command: 'tool auth logout', does: 'sign out of all providers' }],
  json: 'document',
} as const satisfies CommandSpec;

export const authLogoutCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { signedOutText } = await import('../../presentation/sign-in.ts');
  const { signOut } = await import('../../operations/sign-in/sign-out.ts');
  const { endHubSession } = await import('../../operations/cloud/end-hub-session.ts');
  const context = await invocation.context();
  const { provider } = invocation.arguments;
  const isOfHub = context.configuration.settings.sso.hub !== undefined && (provider ?? 'hub') === 'hub';
  if (isOfHub) await endHubSession(context);
  const ended = await signOut(context, { provider: invocation.arguments.provider });
  return { data: { signed_out: ended }, text: signedOutText(ended) };
}
