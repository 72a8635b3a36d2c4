import type { Invocation, Outcome } from './command.ts';

export async function run(_invocation: Invocation): Promise<Outcome> {
  throw new Error('stub');
}
