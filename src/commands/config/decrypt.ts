import type { Invocation, Outcome } from '../../cli/command.ts';
import { decryptValue } from '../../operations/configuration/secrets.ts';

interface Arguments {
  key: string;
}

export async function run({ arguments: { key }, globals, environment, cwd }: Invocation<Arguments>): Promise<Outcome> {
  const value = await decryptValue({ key, file: globals.config, environment, cwd });
  // Printing the secret is what was asked for.
  return { data: {}, text: globals.json ? JSON.stringify({ key, value }) : value, verbatim: true };
}
