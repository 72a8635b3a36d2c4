import type { Invocation, Outcome } from '../cli/command.ts';
import { pull } from '../operations/snapshots/pull.ts';
import { pulledText } from '../report/transfer.ts';
import { type SnapshotArguments, snapshotRequest } from './selector.ts';

interface Options {
  original?: boolean;
  allowUntrusted?: boolean;
}

export async function run(invocation: Invocation<SnapshotArguments, Options>): Promise<Outcome> {
  const { allowUntrusted = false } = invocation.options;
  const result = await pull(await invocation.context(), { ...snapshotRequest(invocation), allowUntrusted });
  return { data: result, text: pulledText(result) };
}
