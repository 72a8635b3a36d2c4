import type { Invocation, Outcome } from '../../cli/command.ts';
import { signInStatus } from '../../operations/sign-in/sign-in-status.ts';
import { signInStatusText } from '../../report/sign-in.ts';

export async function run(invocation: Invocation): Promise<Outcome> {
  const context = await invocation.context();
  const providers = await signInStatus(context);
  const cloud = context.configuration.settings.authtoken !== undefined;
  return { data: { providers, authtoken: cloud }, text: signInStatusText(providers, { cloud }) };
}
