import { text } from 'node:stream/consumers';
import type { Invocation, Outcome } from '../../cli/command.ts';
import { keepAuthtoken } from '../../operations/sign-in/keep-authtoken.ts';

interface Arguments {
  token: string;
}

export async function run(invocation: Invocation<Arguments>): Promise<Outcome> {
  const { arguments: given, stdin } = invocation;
  const context = await invocation.context();
  const token = given.token === '-' ? (await text(stdin)).trim() : given.token;
  const file = await keepAuthtoken(context, token);
  return { data: { file, encrypted: ['authtoken'] }, text: `The cloud token is in ${file}, encrypted` };
}
