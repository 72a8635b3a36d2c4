import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from './shared-options.ts';

const specification = {
  name: 'unpin',
  summary: 'let prune and rm remove a pinned snapshot again',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [ORIGINAL],
  examples: [{ command: 'tool unpin app 8c41f2ab', does: 'unpin this snapshot' }],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const unpinCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { annotatedText } = await import('../presentation/snapshot.ts');
  const { annotate } = await import('../operations/snapshots/snapshots.ts');
  const { target } = invocation.arguments;
  const snapshot = await annotate(await invocation.context(), { ...snapshotRequest(invocation), pinned: false });
  return { data: { target, snapshot }, text: annotatedText('unpin', target, snapshot) };
}
