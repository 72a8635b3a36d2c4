import type { Invocation, Outcome } from '../../cli/command.ts';
import { signIn } from '../../operations/sign-in/sign-in.ts';
import { signedInLine } from '../../report/sign-in.ts';

interface Arguments {
  provider?: string;
}

interface Options {
  device?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { arguments: given, options } = invocation;
  const context = await invocation.context();
  const result = await signIn(context, { provider: given.provider, device: options.device ?? false });
  return { data: result, text: signedInLine(result) };
}
