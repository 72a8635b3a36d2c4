import type { Invocation, Outcome } from '../../cli/command.ts';
import { signOut } from '../../operations/sign-in/sign-out.ts';

interface Arguments {
  provider?: string;
}

export async function run(invocation: Invocation<Arguments>): Promise<Outcome> {
  const context = await invocation.context();
  const ended = await signOut(context, { provider: invocation.arguments.provider });
  const lines = ended.map(
    ({ provider, revoked }) => `Signed out of ${provider}${revoked ? ', and its tokens revoked' : ''}`,
  );
  return { data: { signed_out: ended }, text: lines.length > 0 ? lines.join('\n') : 'Nobody is signed in' };
}
