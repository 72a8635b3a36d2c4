import { formatBytes, formatNumberOf } from '../amounts.ts';
import type { Invocation, Outcome } from '../cli/command.ts';
import { EXIT, UserError } from '../errors.ts';
import { verify } from '../operations/snapshots/verify.ts';
import { hiddenLines } from '../report/snapshots.ts';
import type { VerifyResult } from '../results.ts';
import { type SnapshotArguments, snapshotRequest } from './selector.ts';

interface Options {
  original?: boolean;
  remote?: boolean;
  sample?: number;
  repair?: boolean;
}

export async function run(invocation: Invocation<SnapshotArguments, Options>): Promise<Outcome> {
  const { target } = invocation.arguments;
  const { remote, sample, repair } = invocation.options;
  const result = await verify(await invocation.context(), {
    ...snapshotRequest(invocation),
    ...(remote && { remote }),
    ...(sample !== undefined && { sample }),
    ...(repair && { repair }),
  });
  if (!result.ok) throw damaged(result);
  const { index, id } = result.snapshot;
  const amount = `${formatNumberOf(result.files, 'file')}, ${formatBytes(result.bytes)}`;
  const repaired =
    result.repaired.length > 0 ? `; ${result.repaired.length} of them were damaged and are repaired` : '';
  const whole = `Snapshot ${index} of ${target} (${id}) is whole: ${amount} read${repaired}`;
  return { data: result, text: [whole, ...hiddenLines([result.snapshot])].join('\n') };
}

function damaged({ target, snapshot, problems, lost }: VerifyResult): UserError {
  return new UserError(`Snapshot ${snapshot.index} of ${target} (${snapshot.id}) is damaged`, {
    code: 'snapshot_damaged',
    exit: EXIT.failed,
    hint:
      lost.length > 0
        ? `Take a new one with: tool build ${target}; then remove this one with: tool rm ${target} ${snapshot.id}`
        : `Try: tool verify ${target} ${snapshot.id} --repair; or take a new one: tool build ${target}`,
    details: [
      ...problems,
      ...lost.map(({ target: of, id, created_at }) => `Lost: snapshot ${id} of ${of}, created ${created_at}`),
    ],
  });
}
