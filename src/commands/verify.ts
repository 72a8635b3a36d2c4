import { formatBytes, formatNumberOf } from '../amounts.ts';
import { EXIT, UserError } from '../errors.ts';
import { verify } from '../operations/snapshots/verify.ts';
import type { VerifyResult } from '../results.ts';
import type { Invocation, Outcome } from './command.ts';
import { type SnapshotArguments, snapshotRequest } from './selector.ts';

interface Options {
  original?: boolean;
  remote?: boolean;
  sample?: number;
}

export async function run(invocation: Invocation<SnapshotArguments, Options>): Promise<Outcome> {
  const { target } = invocation.arguments;
  const { remote, sample } = invocation.options;
  const result = await verify(await invocation.context(), {
    ...snapshotRequest(invocation),
    ...(remote && { remote }),
    ...(sample !== undefined && { sample }),
  });
  if (!result.ok) throw damaged(result);
  const { index, id } = result.snapshot;
  const amount = `${formatNumberOf(result.files, 'file')}, ${formatBytes(result.bytes)}`;
  return { data: result, text: `Snapshot ${index} of ${target} (${id}) is whole: ${amount} read` };
}

function damaged({ target, snapshot, problems }: VerifyResult): UserError {
  return new UserError(`Snapshot ${snapshot.index} of ${target} (${snapshot.id}) is damaged`, {
    code: 'snapshot_damaged',
    exit: EXIT.failed,
    hint: `Take a new one with: tool build ${target}; then remove this one with: tool rm ${target} ${snapshot.id}`,
    details: problems,
  });
}
