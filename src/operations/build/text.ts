import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import { briefName, contentsText, lackingLines, snapshotName } from '../../presentation/snapshot.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes } from '../../text/format.ts';
import { sanitizeQuestion, sanitizeSummary, sanitizeTitle } from '../sanitize/text.ts';
import type { BuildPlan, BuildResult } from './planned-build.ts';

export function buildQuestion({ target, sanitize }: BuildPlan, now: Date): Question {
  if (sanitize) return sanitizeQuestion(sanitize, now);
  const title = buildTitle(target);
  const rest = { facts: [], steps: [], warnings: [], typed: null, harmless: true };
  return { title, consequence: 'No database is changed.', ask: `${title}?`, go: 'Build', ...rest };
}

export function buildRunTitle({ target, sanitize }: BuildPlan): string {
  return sanitize ? sanitizeTitle(sanitize) : buildTitle(target);
}

export function buildSummary({ snapshot, ...result }: BuildResult, { target, sanitize }: BuildPlan): RunSummary {
  if (!sanitize || !isSanitized(result)) return builtSummary(target, snapshot);
  return sanitizeSummary({ ...result, original: snapshot, snapshot: result.sanitized }, sanitize);
}

function isSanitized(result: Omit<BuildResult, 'snapshot'>): result is Required<Omit<BuildResult, 'snapshot'>> {
  return result.sanitized !== undefined;
}

function buildTitle(target: string): string {
  return `Build a snapshot of ${target}`;
}

export function builtSummary(target: string, snapshot: SnapshotRow): RunSummary {
  const { program, stored_bytes } = snapshot;
  const by = program === undefined ? '' : `, by ${program}`;
  const added = `${contentsText(snapshot)} (${formatBytes(stored_bytes)} added)${by}`;
  return summaryOf(`Built ${snapshotName(target, snapshot)}: ${added}`, {
    card: { title: `Snapshot ${briefName(snapshot)} created`, facts: [contentsText(snapshot)] },
    details: lackingLines([snapshot]),
  });
}

export function alreadyQueuedText(title: string): string {
  return `Already queued: ${title}`;
}

export function planningText(target: string): string {
  return `Planning the build of ${target}…`;
}

/** The question could not be shown, since another screen had been opened. */
export function notBuiltText(target: string): string {
  return `${target} was not built. Press ${keyText('build')} to try again`;
}
