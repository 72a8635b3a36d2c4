import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { ORIGINAL, TARGET, toSelector } from './shared-options.ts';

const specification = {
  name: 'diff',
  summary: 'what changed between two snapshots, or between a snapshot and the current destination',
  group: 'Keep and share',
  arguments: [
    TARGET,
    { name: 'a', description: 'index or id of a snapshot', required: true, complete: 'snapshot' },
    {
      name: 'b',
      description: 'index or id of another one; default: the destination, compared by row counts and migrations',
      required: false,
      complete: 'snapshot',
    },
  ],
  options: [ORIGINAL],
  examples: [
    { command: 'tool diff app 1 0', does: 'what the newest snapshot has, and the one before had not' },
    { command: 'tool diff app 0', does: 'how far the destination has moved since' },
  ],
  json: 'document',
} as const satisfies CommandSpec;

export const diffCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { diffText } = await import('../cli/printers/lists.ts');
  const { diff } = await import('../operations/snapshots/diff.ts');
  const { target, a, b } = invocation.arguments;
  const result = await diff(await invocation.context(), {
    target,
    a: toSelector(a),
    ...(b !== undefined && { b: toSelector(b) }),
    ...invocation.options,
  });
  return { data: result, text: diffText(result, invocation.tableOptions()) };
}
