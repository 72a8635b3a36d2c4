import type { Invocation, Outcome } from '../cli/command.ts';
import { diff } from '../operations/snapshots/diff.ts';
import { diffText } from '../report/diff.ts';
import { createStyle } from '../report/style.ts';
import { toSelector } from './selector.ts';

interface Arguments {
  target: string;
  a: string;
  b?: string;
}

export async function run(invocation: Invocation<Arguments, { original?: boolean }>): Promise<Outcome> {
  const { terminal, options } = invocation;
  const { target, a, b } = invocation.arguments;
  const result = await diff(await invocation.context(), {
    target,
    a: toSelector(a),
    ...(b !== undefined && { b: toSelector(b) }),
    ...options,
  });
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  return { data: result, text: diffText(result, { columns: terminal.stdout.columns(), style }) };
}
