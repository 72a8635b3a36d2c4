import { findTarget } from '../operations/find-target.ts';
import { listSnapshots } from '../operations/snapshots/snapshots.ts';
import { snapshotsText } from '../report/snapshots.ts';
import { createStyle } from '../report/style.ts';
import type { Invocation, Outcome } from './command.ts';

interface Arguments {
  target: string;
}

interface Options {
  original?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { terminal, screens } = invocation;
  const { target } = invocation.arguments;
  if (screens) return { data: {}, text: '', exit: await screens({ target }) };
  const context = await invocation.context();
  const listed = await listSnapshots(context, target, invocation.options);
  const { share } = findTarget(context.configuration, target);
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  return {
    data: listed,
    text: snapshotsText(listed, {
      columns: terminal.stdout.columns(),
      style,
      now: context.clock(),
      shares: share !== undefined,
    }),
  };
}
