import { pull } from '../operations/snapshots/pull.ts';
import { pulledText } from '../report/transfer.ts';
import type { Invocation, Outcome } from './command.ts';
import { type SnapshotArguments, snapshotRequest } from './selector.ts';

export async function run(invocation: Invocation<SnapshotArguments, { original?: boolean }>): Promise<Outcome> {
  const result = await pull(await invocation.context(), snapshotRequest(invocation));
  return { data: result, text: pulledText(result) };
}
