import { defineCommand } from '../../cli/command.ts';
import { openSummary, SUMMARY } from '../../cli/summary-file.ts';
import type { VerifyResult } from '../../results/results.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { ALLOW_UNTRUSTED, ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from '../shared-options.ts';
import { excludeEachOther, flagOf, requiresFlag, wrongUsage } from '../wrong-usage.ts';

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'verify the checksums of a snapshot, or restore it into a throw-away database',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [
    { flags: '--remote', description: 'verify the snapshot in the bucket, even if it is also local' },
    {
      flags: '--sample <percent>',
      description: 'verify only this share of the objects, chosen at random',
      value: 'percentage',
    },
    {
      flags: '--repair',
      description: 'replace damaged local objects from the bucket; with --remote the reverse',
    },
    { flags: '--save <name>', description: 'verify this save (name or index) instead' },
    { flags: '--restore', description: 'restore into a throw-away database, with all checks of a load' },
    { flags: '--after-load', description: 'with --restore: run the steps of after_load' },
    { flags: '--query <sql>', description: 'with --restore: run one SELECT, and show its first value' },
    { flags: '--expect <comparison>', description: "fail unless the value of --query meets it, such as '> 1000'" },
    { ...SUMMARY, description: 'with --restore: write the proof to a Markdown file' },
    ALLOW_UNTRUSTED,
    ORIGINAL,
  ],
  examples: [
    { command: 'tool verify app 1', does: 'verify the second newest snapshot' },
    { command: 'tool verify app --remote --sample 10%', does: 'verify a tenth of the newest in the bucket' },
    { command: 'tool verify app --restore', does: 'prove that the newest can be restored' },
  ],
  json: 'events',
  writes: { option: 'repair' },
  async run(invocation) {
    const { lostLines, verifySummary } = await import('../../operations/snapshots/transfer/transfer-text.ts');
    const { summaryText } = await import('../../presentation/shapes/summary.ts');
    const { verify } = await import('../../operations/snapshots/verify/verify.ts');
    const request = { ...snapshotRequest(invocation), ...invocation.options };
    assertUsage(request);
    if (request.restore) {
      const { verifyRestore } = await import('../../operations/snapshots/verify/verify-restore.ts');
      const context = await invocation.context();
      const file = await openSummary(invocation, context);
      const { summary: _, ...proof } = request;
      const result = await verifyRestore(context, proof);
      const { target, snapshot, restore } = result;
      await file?.write({ target, snapshot, ...(restore && { restore }) });
      return { data: result, text: summaryText(verifySummary(result)) };
    }
    const result = await verify(await invocation.context(), request);
    if (!result.ok) throw damaged(result, { lost: lostLines(result), remote: request.remote ?? false });
    return { data: result, text: summaryText(verifySummary(result)) };
  },
});

const WITH_RESTORE = ['afterLoad', 'query', 'summary', 'allowUntrusted'] as const;
const WITHOUT_RESTORE = ['remote', 'sample', 'repair', 'save'] as const;
/** A save is on this machine only. */
const WITHOUT_SAVE = ['remote', 'repair', 'original'] as const;

type Flags = Partial<Record<(typeof WITH_RESTORE)[number] | (typeof WITHOUT_RESTORE)[number], unknown>>;

interface Usage extends Flags {
  snapshot?: unknown;
  original?: unknown;
  restore?: boolean;
  query?: string;
  expect?: string;
}

function assertUsage(options: Usage): void {
  const { restore = false, query, expect } = options;
  const besides = options.save === undefined ? undefined : WITHOUT_SAVE.find((key) => options[key] !== undefined);
  if (besides !== undefined || (options.save !== undefined && options.snapshot !== undefined)) {
    const other = besides === undefined ? 'a snapshot' : flagOf(besides);
    throw excludeEachOther('--save', other, 'tool verify TARGET --save NAME');
  }
  const excluded = (restore ? WITHOUT_RESTORE : WITH_RESTORE).find((key) => options[key] !== undefined);
  if (excluded !== undefined) {
    throw wrongUsage(
      restore ? `--restore and ${flagOf(excluded)} exclude each other` : `${flagOf(excluded)} requires --restore`,
      { code: 'flag_needs_flag', hint: 'tool verify TARGET --restore' },
    );
  }
  if (expect !== undefined && query === undefined) {
    throw requiresFlag('--expect', '--query', 'tool verify TARGET --restore --query SELECT --expect COMPARISON');
  }
}

function damaged(
  { target, snapshot, save, problems }: VerifyResult,
  { lost, remote }: { lost: string[]; remote: boolean },
): UserError {
  if (save !== undefined) {
    return new UserError('snapshot_damaged', `Save ${JSON.stringify(save)} of ${target} is damaged`, {
      hint: `Save again: ${shell`tool save ${target}`}; then remove this one: ${shell`tool save ${target} NAME --remove`}`,
      details: problems,
    });
  }
  const repair = `${shell`tool verify ${target} ${snapshot.id}`}${remote ? ' --remote' : ''} --repair`;
  return new UserError('snapshot_damaged', `Snapshot ${snapshot.index} of ${target} (${snapshot.id}) is damaged`, {
    hint:
      lost.length > 0
        ? `Build a new one: ${shell`tool build ${target}`}; then remove this one: ${shell`tool rm ${target} ${snapshot.id}`}`
        : `Try: ${repair}; or build a new one: ${shell`tool build ${target}`}`,
    details: [...problems, ...lost],
  });
}
