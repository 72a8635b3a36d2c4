import type { CommandModule, CommandSpec, Invocation, Outcome } from '../../cli/command.ts';

const specification = {
  name: 'auth status',
  summary: 'show who is signed in, with groups and expiry',
  group: 'Sign in',
  arguments: [],
  options: [],
  examples: [{ command: 'tool auth status --json', does: 'the same, for scripts' }],
  json: 'document',
} as const satisfies CommandSpec;

export const authStatusCommand: CommandModule = { ...specification, run };

async function run(invocation: Invocation): Promise<Outcome> {
  const { signInStatusText } = await import('../../presentation/sign-in.ts');
  const { signInStatus } = await import('../../operations/sign-in/sign-in-status.ts');
  const context = await invocation.context();
  const providers = await signInStatus(context);
  const cloud = context.configuration.settings.authtoken !== undefined;
  return { data: { providers, authtoken: cloud }, text: signInStatusText(providers, { cloud }) };
}
