import type { Invocation, Outcome } from '../cli/command.ts';
import { ownKey } from '../operations/trust.ts';

export async function run({ environment }: Invocation): Promise<Outcome> {
  const key = await ownKey(environment);
  return { data: key, text: key.public_key };
}
