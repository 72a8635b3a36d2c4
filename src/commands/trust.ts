import { ownKey } from '../operations/trust.ts';
import type { Invocation, Outcome } from './command.ts';

export async function run({ environment }: Invocation): Promise<Outcome> {
  const key = await ownKey(environment);
  return { data: key, text: key.public_key };
}
