import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import {
  briefName,
  contentsText,
  lackingLines,
  lostFacts,
  lostNames,
  snapshotName,
} from '../../presentation/snapshot.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { AllRead, RowReadSummary } from '../../results/row-reading.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes, formatNumberOf } from '../../text/format.ts';
import { sanitizeQuestion, sanitizeSummary, sanitizeTitle } from '../sanitize/text.ts';
import type { BuildPlan, BuildResult } from './planned-build.ts';

export function buildQuestion({ target, sanitize, all_read }: BuildPlan, now: Date): Question {
  if (sanitize) return sanitizeQuestion(sanitize, now);
  const title = `Build a snapshot of ${target}`;
  const facts = [{ name: 'Rows', value: plannedReading(all_read) }];
  const rest = { facts, steps: [], warnings: [], typed: null, harmless: true };
  return { title, consequence: 'No database is changed.', ask: `${title}?`, go: 'Build', ...rest };
}

export function buildRunTitle({ target, sanitize }: BuildPlan): string {
  return sanitize ? sanitizeTitle(sanitize) : `build ${target}`;
}

export function buildSummary({ snapshot, ...result }: BuildResult, { target, sanitize }: BuildPlan): RunSummary {
  if (!sanitize || !isSanitized(result)) return builtSummary(target, snapshot);
  return sanitizeSummary({ ...result, original: snapshot, snapshot: result.sanitized }, sanitize);
}

function isSanitized(result: Omit<BuildResult, 'snapshot'>): result is Required<Omit<BuildResult, 'snapshot'>> {
  return result.sanitized !== undefined;
}

export function builtSummary(target: string, snapshot: SnapshotRow): RunSummary {
  const { program, stored_bytes } = snapshot;
  const by = program === undefined ? '' : `, by ${program}`;
  const added = `${contentsText(snapshot)} (${formatBytes(stored_bytes)} added)${by}`;
  return summaryOf(`Built ${snapshotName(target, snapshot)}: ${added}`, {
    caution: lostFacts(snapshot).length > 0,
    card: { title: `Snapshot ${briefName(snapshot)} created`, facts: lostFacts(snapshot) },
    ...lostNames(snapshot),
    details: [...readingLines(snapshot.reading), ...lackingLines([snapshot])],
    snapshot: snapshot.id,
  });
}

const ALL_READ: Record<AllRead, string> = {
  asked: 'as requested',
  due: 'the last time is longer ago than full_every',
  first: 'no earlier build on this machine proves anything',
  history: 'the server restarted, or the server, the database or the user is another one since the last build',
  unprovable: 'the source cannot prove that rows are unchanged',
};

type BuildOrSave = 'build' | 'save';

/** A save reads the destination. */
function allReadText(why: AllRead, kind: BuildOrSave): string {
  const text = ALL_READ[why];
  if (kind === 'build') return text;
  // A load is as good as a save for the next one.
  return text.replace(/(last )?build/, '$1load or save').replace('the source', 'the destination');
}

export function plannedReading(allRead: AllRead | null, kind: BuildOrSave = 'build'): string {
  if (allRead !== null) return `all are read: ${allReadText(allRead, kind)}`;
  return `those that are proved to be unchanged since the last ${kind} are not read (--full reads all)`;
}

export function readingLines(reading: RowReadSummary | undefined, kind: BuildOrSave = 'build'): string[] {
  if (!reading || reading.all_read === 'first') return [];
  const { tables_read, tables_partly_read, tables_unchanged, unchanged_bytes, read, all_read } = reading;
  if (all_read !== null) return [`Read all rows: ${allReadText(all_read, kind)}`];
  // Rows of small tables are always read.
  if (tables_unchanged + tables_partly_read === 0) return [];
  const unchanged = `Proved unchanged: ${formatNumberOf(tables_unchanged, 'table')} (${formatBytes(unchanged_bytes)} not read)`;
  const all = tables_read + tables_partly_read;
  const part = tables_partly_read === 0 ? '' : `, ${tables_partly_read} of them in part`;
  const more = all > NAMED ? ` and ${all - NAMED} more` : '';
  const names = `${read.slice(0, NAMED).join(', ')}${more}`;
  return [unchanged, ...(all > 0 ? [`Read: ${formatNumberOf(all, 'table')}${part}: ${names}`] : [])];
}

/** Tables that a summary names. */
const NAMED = 5;

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
