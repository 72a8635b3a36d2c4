import { type Question, serverFact, warningsOf } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import type { RehearsalPlan, RehearsalResult } from '../../results/review/rehearsal-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes, formatCount, formatDuration, formatNumberOf } from '../../text/format.ts';
import { joinLines, printable } from '../../text/printable.ts';
import { databaseFacts, needsText } from '../branch/shared-text.ts';
import { upQuestion } from '../servers/up/text.ts';
import { estimateText, oneLine, type WorkloadWait, workloadText, writtenText } from './list-text.ts';

export function rehearseQuestion(plan: RehearsalPlan): Question {
  const { target, destination, base, load, branches, server, works, needs_bytes } = plan;
  const own = server && upQuestion(server);
  const runs = works.map(({ run }) => ({ name: 'Runs', value: printable(run) }));
  const onBranch = () => [
    { name: 'Base copy', value: base ? base.database : `snapshot ${load?.id ?? 'unknown'}, to be loaded first` },
    ...databaseFacts(branches),
    ...runs,
    { name: 'Disk space', value: needsText(needs_bytes) },
    serverFact(destination),
  ];
  return {
    title: `Rehearse a migration of ${target}`,
    facts: own ? [...own.facts, ...runs] : onBranch(),
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: own?.consequence ?? `${destination.database} is not changed.`,
    ask: 'Rehearse it?',
    go: 'Rehearse',
    typed: null,
  };
}

export function rehearsalSummary(result: RehearsalResult): RunSummary {
  return summaryOf(outcomeText(result), {
    caution: result.outcome !== 'passed',
    rehearsal: result,
    problems: result.problems.map(({ message }) => printable(message)),
    details: sectionsOf(result).flatMap(({ title, lines }) => [title, ...lines.map((line) => `  ${line}`)]),
  });
}

/** `Passed: migration of shop, 14 statements in 1.2 s` */
export function verdictText(result: RehearsalResult): string {
  return `${outcomeText(result)} in ${formatDuration(result.duration_ms)}`;
}

function outcomeText({ outcome, target, statements, statements_left_out }: RehearsalResult): string {
  return `${VERDICTS[outcome]}: migration of ${target}, ${formatNumberOf(statements.length + statements_left_out, 'statement')}`;
}

const VERDICTS: Record<RehearsalResult['outcome'], string> = {
  passed: 'Passed',
  failed: 'Failed',
  over_limit: 'Over the limit',
};

interface ReportSection {
  title: string;
  lines: string[];
}

const MOST_LINES = 10;
const MOST_OUTPUT_LINES = 20;
const LONGEST_STATEMENT = 100;

/** The parts of the report that have content, for every skin. */
function sectionsOf(result: RehearsalResult): ReportSection[] {
  const sections: ReportSection[] = [
    { title: 'Warnings', lines: bounded(result.warnings.map(warningText)).flatMap((both) => both.split('\n')) },
    { title: 'Locks', lines: locksText(result) },
    { title: 'Rewritten', lines: bounded(byLength(result.rewrites, 'bytes').map(rewriteText)) },
    { title: 'Slowest statements', lines: byLength(result.statements, 'duration_ms').slice(0, 5).map(statementText) },
    { title: 'Failed statements', lines: bounded(failuresOf(result)) },
    { title: 'Estimate', lines: result.source_estimate ? [estimateText(result.source_estimate)] : [] },
    { title: 'Load', lines: workloadLines(result) },
    { title: 'Definitions', lines: bounded(result.definitions.map(({ name, change }) => `${name}: ${change}`)) },
    { title: 'Rows', lines: bounded(result.rows.map(rowsText)) },
    { title: 'Written', lines: [writtenText(result)] },
    { title: 'Output', lines: outputOf(result) },
    { title: 'Branch', lines: result.kept ? [`${result.branch}: ${result.database}`] : [] },
  ];
  const isCause = ({ title }: ReportSection): boolean =>
    result.outcome === 'failed' && ['Failed statements', 'Output'].includes(title);
  return sections
    .filter(({ lines }) => lines.length > 0)
    .sort((one, other) => Number(isCause(other)) - Number(isCause(one)))
    .map(({ title, lines }) => ({ title, lines: lines.map((line) => printable(line)) }));
}

function byLength<Item extends Record<Key, number>, Key extends string>(items: Item[], key: Key): Item[] {
  return items.toSorted((one, other) => other[key] - one[key]);
}

function bounded(lines: string[]): string[] {
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${formatCount(more)} more`] : lines;
}

/** Two lines: the effect, and the safer form. docs/rehearsal-rules.md has the address of each rule. */
function warningText({ code, table, text, safer }: RehearsalResult['warnings'][number]): string {
  return `${code}${table === null ? '' : ` on ${table}`}: ${text}\nSafer: ${safer}`;
}

const BLOCKED = { readers: 'blocks readers and writers', writers: 'blocks writers', none: 'blocks other migrations' };

function locksText({ locks, sampling }: RehearsalResult): string[] {
  const lines = bounded(byLength(locks, 'held_ms').map(lockText));
  return sampling.samples > 0 || lines.length === 0 ? lines : [...lines, NOT_SAMPLED];
}

const NOT_SAMPLED =
  'The server does not show its locks: modes follow from the kind of a statement, and times are at most its duration';

function lockText(lock: RehearsalResult['locks'][number]): string {
  const { table, index, mode, held_ms, below_resolution, blocks, statement } = lock;
  const on = index === null ? table : `${table} (index ${index})`;
  const held = below_resolution ? 'less than 5 ms, the resolution' : formatDuration(held_ms);
  return `${on}: ${mode} for ${held}, ${BLOCKED[blocks]}${statement === null ? '' : `: ${shortLine(statement)}`}`;
}

function rewriteText({ kind, name, bytes }: RehearsalResult['rewrites'][number]): string {
  return `${kind} ${name}: ${formatBytes(bytes)}`;
}

function statementText({ text, duration_ms }: RehearsalResult['statements'][number]): string {
  return `${formatDuration(duration_ms)}  ${shortLine(text)}`;
}

function failuresOf({ statements }: RehearsalResult): string[] {
  return statements.flatMap(({ text, error }) =>
    error ? [`${error.code} ${error.message.replaceAll(/\s+/g, ' ')}: ${shortLine(text)}`] : [],
  );
}

function workloadLines({ workload }: RehearsalResult): string[] {
  if (!workload) return [];
  const { waits } = workload;
  return [workloadText(workload), ...bounded(waits.filter(({ waited_for }) => waited_for !== null).map(waitText))];
}

function waitText({ statement, duration_ms, waited_for }: WorkloadWait): string {
  return `${formatDuration(duration_ms)}  ${shortLine(statement)}, waited for: ${shortLine(waited_for ?? '')}`;
}

function rowsText({ table, before, after }: RehearsalResult['rows'][number]): string {
  const [old, now] = [before, after].map((count) => (count === null ? 'none' : formatCount(count)));
  return `${table}: ${old} → ${now}`;
}

function outputOf({ works }: RehearsalResult): string[] {
  const lines = works.flatMap(({ output }) => output.trimEnd().split(/\r\n|\n|\r/));
  return lines.filter((line) => line !== '').slice(-MOST_OUTPUT_LINES);
}

function shortLine(text: string): string {
  const line = oneLine(text);
  return line.length > LONGEST_STATEMENT ? `${line.slice(0, LONGEST_STATEMENT)}…` : line;
}

/** The report as Markdown for a pull request. */
export function rehearsalMarkdown(result: RehearsalResult, markdownText: (text: string) => string): string {
  const item = (line: string): string => `- ${markdownText(line)}`;
  const parts = sectionsOf(result).map(({ title, lines }) => joinLines([`### ${title}`, '', ...lines.map(item)]));
  const problems = result.problems.map(({ message }) => item(message));
  const head = `## ${markdownText(verdictText(result))}`;
  return `${[head, ...(problems.length > 0 ? [problems.join('\n')] : []), ...parts].join('\n\n')}\n`;
}
