import { formatBytes, formatNumberOf } from '../amounts.ts';
import { EXIT, UserError } from '../errors.ts';
import { verify } from '../operations/verify.ts';
import type { VerifyResult } from '../results.ts';
import type { Invocation, Outcome } from './command.ts';
import { toSelector } from './selector.ts';

interface Arguments {
  target: string;
  snapshot?: string;
}

interface Options {
  original?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { target, snapshot } = invocation.arguments;
  const result = await verify(await invocation.context(), {
    target,
    ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...invocation.options,
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
