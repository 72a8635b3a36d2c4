import { resolve } from 'node:path';
import { formatBytes } from '../amounts.ts';
import type { Invocation, Outcome } from '../cli/command.ts';
import { exportSnapshot } from '../operations/snapshots/export.ts';
import { type SnapshotArguments, snapshotRequest } from './selector.ts';

interface Options {
  output?: string;
  original?: boolean;
}

export async function run(invocation: Invocation<SnapshotArguments, Options>): Promise<Outcome> {
  const { target, snapshot = '0' } = invocation.arguments;
  const file = resolve(invocation.cwd, invocation.options.output ?? `${encodeURIComponent(target)}-${snapshot}.zip`);
  const result = await exportSnapshot(await invocation.context(), { ...snapshotRequest(invocation), file });
  const { index, id } = result.snapshot;
  return {
    data: result,
    text: `Exported snapshot ${index} of ${target} (${id}) to ${file}: ${formatBytes(result.bytes)}`,
  };
}
