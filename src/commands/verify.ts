import { defineCommand } from '../cli/command.ts';
import type { VerifyResult } from '../results/results.ts';
import { UserError } from '../runtime/errors.ts';
import { ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from './shared-options.ts';

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'verify the checksums of every object of a snapshot',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [
    { flags: '--remote', description: 'verify the bucket, even if the snapshot is local too' },
    {
      flags: '--sample <percent>',
      description: 'only this share of the objects, chosen at random',
      value: 'percentage',
    },
    {
      flags: '--repair',
      description: 'replace damaged objects from the bucket, or with --remote from this machine',
    },
    ORIGINAL,
  ],
  examples: [
    { command: 'tool verify app 1', does: 'verify the second newest snapshot' },
    { command: 'tool verify app --remote --sample 10%', does: 'verify a tenth of the newest in the bucket' },
  ],
  json: 'events',
  writes: { option: 'repair' },
  async run(invocation) {
    const { lostLines, verifySummary } = await import('../operations/snapshots/transfer-text.ts');
    const { summaryText } = await import('../presentation/shapes/summary.ts');
    const { verify } = await import('../operations/snapshots/verify.ts');
    const request = { ...snapshotRequest(invocation), ...invocation.options };
    const result = await verify(await invocation.context(), request);
    if (!result.ok) throw damaged(result, { lost: lostLines(result), remote: request.remote ?? false });
    return { data: result, text: summaryText(verifySummary(result)) };
  },
});

function damaged(
  { target, snapshot, problems }: VerifyResult,
  { lost, remote }: { lost: string[]; remote: boolean },
): UserError {
  const repair = `tool verify ${target} ${snapshot.id}${remote ? ' --remote' : ''} --repair`;
  return new UserError('snapshot_damaged', `Snapshot ${snapshot.index} of ${target} (${snapshot.id}) is damaged`, {
    hint:
      lost.length > 0
        ? `Build a new one: tool build ${target}; then remove this one: tool rm ${target} ${snapshot.id}`
        : `Try: ${repair}; or build a new one: tool build ${target}`,
    details: [...problems, ...lost],
  });
}
