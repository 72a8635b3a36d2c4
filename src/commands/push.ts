import type { Invocation, Outcome } from '../cli/command.ts';
import { push } from '../operations/snapshots/push.ts';
import { pushedText } from '../report/transfer.ts';
import { type SnapshotArguments, snapshotRequest } from './selector.ts';

export async function run(invocation: Invocation<SnapshotArguments, { original?: boolean }>): Promise<Outcome> {
  const result = await push(await invocation.context(), snapshotRequest(invocation));
  return { data: result, text: pushedText(result) };
}
