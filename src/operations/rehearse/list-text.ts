import type { Cell, Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import type { RehearsalResult } from '../../results/review/rehearsal-results.ts';
import { formatBytes, formatCount, formatDuration, formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { diffLines } from '../snapshots/diff/table-diff-text.ts';
import type { SourceEstimate } from './source-estimate.ts';

type Item<Key extends keyof RehearsalResult> = RehearsalResult[Key] extends (infer Element)[] ? Element : never;

/** One line of the list of a report. */
export type ReportEntry =
  | { kind: 'failed'; item: Item<'statements'> & { error: object } }
  | { kind: 'lock'; item: Item<'locks'> }
  | { kind: 'warning'; item: Item<'warnings'> }
  | { kind: 'rewrite'; item: Item<'rewrites'> }
  | { kind: 'definition'; item: Item<'definitions'> }
  | { kind: 'rows'; item: Item<'rows'> }
  | { kind: 'output'; item: Item<'works'> }
  | { kind: 'wait'; item: WorkloadWait };

type Workload = NonNullable<RehearsalResult['workload']>;

export type WorkloadWait = Workload['waits'][number];

const WAITING = { readers: 2, writers: 1, none: 0 };

/** Returns the list: failures and locks that users wait for, then warnings, then changes. */
export function findingsOf(result: RehearsalResult): ReportEntry[] {
  const { works, statements, locks, warnings, rewrites, definitions, rows, workload } = result;
  const byWaiting = locks.toSorted(
    (one, other) => WAITING[other.blocks] - WAITING[one.blocks] || other.held_ms - one.held_ms,
  );
  const outputs = works.filter(({ output, failed }) => failed || output.trim() !== '');
  const blocks = (finding: ReportEntry): boolean => finding.kind === 'lock' && finding.item.blocks !== 'none';
  const found = byWaiting.map((item): ReportEntry => ({ kind: 'lock', item }));
  return [
    ...statements.flatMap(({ error, ...rest }): ReportEntry[] =>
      error ? [{ kind: 'failed', item: { ...rest, error } }] : [],
    ),
    ...outputs.filter(({ failed }) => failed).map((item): ReportEntry => ({ kind: 'output', item })),
    ...found.filter(blocks),
    ...(workload?.waits ?? [])
      .filter(({ waited_for }) => waited_for !== null)
      .map((item): ReportEntry => ({ kind: 'wait', item })),
    ...warnings.map((item): ReportEntry => ({ kind: 'warning', item })),
    ...rewrites
      .toSorted((one, other) => other.bytes - one.bytes)
      .map((item): ReportEntry => ({ kind: 'rewrite', item })),
    ...found.filter((finding) => !blocks(finding)),
    ...definitions.map((item): ReportEntry => ({ kind: 'definition', item })),
    ...rows.map((item): ReportEntry => ({ kind: 'rows', item })),
    ...outputs.filter(({ failed }) => !failed).map((item): ReportEntry => ({ kind: 'output', item })),
  ];
}

type Mark = 'bad' | 'caution' | 'none';

function markOf({ kind, item }: ReportEntry): Mark {
  if (kind === 'failed') return 'bad';
  if (kind === 'output') return item.failed ? 'bad' : 'none';
  if (kind === 'lock') return item.blocks === 'readers' ? 'bad' : item.blocks === 'writers' ? 'caution' : 'none';
  return kind === 'warning' || kind === 'rewrite' || kind === 'wait' ? 'caution' : 'none';
}

const TONES: Record<Mark, Tone> = { bad: 'bad', caution: 'caution', none: 'dim' };

export function findingColumns(glyphs: Glyphs, { narrow }: { narrow: boolean }): Column<ReportEntry>[] {
  return [
    {
      title: 'KIND',
      whole: true,
      cell: (finding) => {
        const mark = markOf(finding);
        const glyph = mark === 'none' ? glyphs.same : glyphs[mark];
        return { text: [glyph, finding.kind].filter(Boolean).join(' '), tone: TONES[mark] };
      },
    },
    { title: 'ON', max: narrow ? 24 : 40, cell: (finding) => ({ text: printable(subjectOf(finding)) }) },
    { title: 'SIZE', align: 'right', whole: true, cell: amountOf },
    { title: 'EFFECT', grows: true, essential: true, cell: (finding) => ({ text: printable(effectOf(finding)) }) },
  ];
}

function subjectOf({ kind, item }: ReportEntry): string {
  switch (kind) {
    case 'failed':
      return oneLine(item.text);
    case 'wait':
      return oneLine(item.statement);
    case 'lock':
      return item.index === null ? item.table : `${item.table} (${item.index})`;
    case 'warning':
      return item.table ?? oneLine(item.statement);
    case 'rewrite':
    case 'definition':
      return item.name;
    case 'rows':
      return item.table;
    case 'output':
      return item.run;
    default:
      return kind satisfies never;
  }
}

function amountOf({ kind, item }: ReportEntry): Cell {
  if (kind === 'lock') return { text: heldText(item) };
  if (kind === 'rewrite') return { text: formatBytes(item.bytes) };
  if (kind === 'failed' || kind === 'output' || kind === 'wait') return { text: formatDuration(item.duration_ms) };
  return { text: '' };
}

/** `41 s`, `< 5 ms` */
function heldText({ held_ms, below_resolution }: Item<'locks'>): string {
  return below_resolution ? '< 5 ms' : formatDuration(held_ms);
}

/** The effect of a lock. */
const WAITS = { readers: 'readers and writers wait', writers: 'writers wait', none: 'other migrations wait' };

function effectOf({ kind, item }: ReportEntry): string {
  switch (kind) {
    case 'failed':
      return `${item.error.code} ${oneLine(item.error.message)}`;
    case 'lock':
      return `${WAITS[item.blocks]} (${item.mode})`;
    case 'warning':
      return item.text;
    case 'rewrite':
      return `${item.kind} is written anew`;
    case 'definition':
      return `definition ${item.change}`;
    case 'rows':
      return `${countText(item.before)} → ${countText(item.after)} rows`;
    case 'output':
      return outputText(item);
    case 'wait':
      return `waited for ${oneLine(item.waited_for ?? '')}`;
    default:
      return kind satisfies never;
  }
}

function countText(count: number | null): string {
  return count === null ? 'no table' : formatCount(count);
}

function outputText({ failed, exit }: Item<'works'>): string {
  if (!failed) return 'output of the command';
  return exit === null ? 'failed' : `failed with exit code ${exit}`;
}

/** Returns all facts of a finding: its effect, its statement and the safer form. */
export function findingFacts(finding: ReportEntry): { title: string; facts: Fact[] } {
  const facts = factsOf(finding).map(({ value, ...fact }) => ({ ...fact, value: printable(value) }));
  return { title: printable(`${finding.kind}: ${subjectOf(finding)}`), facts };
}

function factsOf({ kind, item }: ReportEntry): Fact[] {
  switch (kind) {
    case 'failed':
      return [
        { name: 'Error', value: `${item.error.code} ${item.error.message}`, tone: 'bad' },
        { name: 'After', value: formatDuration(item.duration_ms) },
        { name: 'Statement', value: item.text },
      ];
    case 'lock':
      return [
        { name: 'Effect', value: WAITS[item.blocks], tone: item.blocks === 'none' ? 'plain' : 'caution' },
        { name: 'Held', value: `${heldText(item)}, from ${formatDuration(item.at_ms)} on` },
        { name: 'Lock', value: item.mode },
        { name: 'Statement', value: item.statement ?? 'of a session that was not observed' },
      ];
    case 'warning':
      return [
        { name: 'Effect', value: item.text, tone: 'caution' },
        { name: 'Safer', value: item.safer, tone: 'good' },
        { name: 'Statement', value: item.statement },
        { name: 'Rule', value: item.code },
        { name: 'Manual', value: item.url },
      ];
    case 'wait':
      return [
        {
          name: 'Duration',
          value: `${formatDuration(item.duration_ms)}, from ${formatDuration(item.at_ms)} on`,
          tone: 'caution',
        },
        { name: 'Statement', value: item.statement },
        { name: 'Waited for', value: item.waited_for ?? '' },
      ];
    case 'rewrite':
      return [
        { name: 'Rewritten', value: `${item.kind}, ${formatBytes(item.bytes)}` },
        { name: 'Table', value: item.table },
      ];
    case 'definition':
      return diffLines(item.diff).map(({ text, tone }) => ({ name: '', value: text, tone }));
    case 'rows':
      return [
        { name: 'Before', value: countText(item.before) },
        { name: 'After', value: countText(item.after) },
      ];
    case 'output':
      return [
        { name: 'Result', value: outputText(item), tone: item.failed ? 'bad' : 'plain' },
        ...item.output
          .trimEnd()
          .split(/\r\n|\n|\r/)
          .map((value, index) => ({ name: index === 0 ? 'Output' : '', value })),
      ];
    default:
      return kind satisfies never;
  }
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** `Load: 4 sessions ran 1,204 statements, 2 failed: column "x" does not exist` */
export function workloadText({ sessions, statements, failed, first_error }: Workload): string {
  const ran = `${formatNumberOf(sessions, 'session')} ran ${formatNumberOf(statements, 'statement')}`;
  return failed === 0 ? ran : `${ran}, ${formatCount(failed)} failed: ${oneLine(first_error ?? '')}`;
}

/** `Estimate for the source: 12 min 04 s, …` with its assumption. */
export function estimateText({ snapshot, ratio, duration_ms, longest_lock_ms }: SourceEstimate): string {
  const lock = longest_lock_ms > 0 ? `, longest lock ${formatDuration(longest_lock_ms)}` : '';
  return `Estimate for the source: ${formatDuration(duration_ms)}${lock}, if time grows with the bytes of the tables (${ratio} times, as in snapshot ${snapshot})`;
}

/** `the database grew by 4 MB, 12 MB of log` */
export function writtenText({ growth_bytes, wal_bytes }: RehearsalResult): string {
  const growth = growth_bytes < 0 ? `shrank by ${formatBytes(-growth_bytes)}` : `grew by ${formatBytes(growth_bytes)}`;
  return `the database ${growth}${wal_bytes === null ? '' : `, ${formatBytes(wal_bytes)} of log`}`;
}
