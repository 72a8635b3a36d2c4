import { build } from '../operations/build.ts';
import { snapshotLine } from '../report/snapshots.ts';
import type { Invocation, Outcome } from './command.ts';

interface Arguments {
  target: string;
}

interface Options {
  note?: string;
  push: boolean;
  cpus?: number;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { target } = invocation.arguments;
  const snapshot = await build(await invocation.context(), { target, ...invocation.options });
  return { data: { snapshot }, text: `Built ${snapshotLine(target, snapshot)}` };
}
