import type { Tone } from '../../presentation/shapes/glyphs.ts';
import type { RehearsalResult } from '../../results/review/rehearsal-results.ts';
import { formatBytes, formatDuration, formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { estimateText, workloadText, writtenText } from './list-text.ts';

export interface Headline {
  text: string;
  tone: Tone;
}

/** Lines of problems, and of tables that are waited for. */
const MOST = { full: { problems: 3, tables: 3 }, brief: { problems: 1, tables: 1 } };

/** Returns the lines below the verdict: problems, who would have waited, what was rewritten and written. */
export function rehearsalHeadlines(result: RehearsalResult, { brief }: { brief: boolean }): Headline[] {
  const most = brief ? MOST.brief : MOST.full;
  const problems = result.problems.map(({ message }): Headline => ({ text: message, tone: 'bad' }));
  return [
    ...bounded(problems, { most: most.problems, more: 'more problem' }),
    ...bounded(waitLines(result), { most: most.tables, more: 'shorter wait' }),
    ...(result.source_estimate ? [{ text: estimateText(result.source_estimate), tone: 'caution' as const }] : []),
    ...workloadLine(result),
    rewriteLine(result, { brief }),
  ].map(({ text, tone }) => ({ text: printable(text), tone }));
}

/** The last line counts the others: `…, and 2 shorter waits`. */
function bounded(lines: Headline[], { most, more }: { most: number; more: string }): Headline[] {
  const left = lines.length - most;
  if (left <= 0) return lines;
  return lines.slice(0, most).map(({ text, tone }, index) => ({
    text: index === most - 1 ? `${text}, and ${formatNumberOf(left, more)}` : text,
    tone,
  }));
}

/** By table, the longest first. Locks of one index block the statements that use it only: they are in the list. */
function waitLines({ locks, sampling }: RehearsalResult): Headline[] {
  const longest = new Map<string, RehearsalResult['locks'][number]>();
  const blocking = locks.filter(({ blocks, index }) => blocks !== 'none' && index === null);
  const held = blocking.filter(({ below_resolution }) => !below_resolution);
  for (const lock of held.toSorted((one, other) => other.held_ms - one.held_ms)) {
    if (!longest.has(`${lock.blocks} ${lock.table}`)) longest.set(`${lock.blocks} ${lock.table}`, lock);
  }
  if (longest.size === 0) {
    const brief = `No lock that readers or writers wait for was held longer than ${sampling.interval_ms} ms`;
    return [{ text: blocking.length > 0 ? brief : 'No reader and no writer would have waited', tone: 'good' }];
  }
  return [...longest.values()].map(({ blocks, table, held_ms }): Headline => {
    const who = blocks === 'readers' ? 'Readers and writers' : 'Writers';
    return {
      text: `${who} of ${table} would have waited for up to ${formatDuration(held_ms)}`,
      tone: blocks === 'readers' ? 'bad' : 'caution',
    };
  });
}

function rewriteLine(result: RehearsalResult, { brief }: { brief: boolean }): Headline {
  const { rewrites, rewritten_bytes } = result;
  const count = (kind: string): number => rewrites.filter((rewrite) => rewrite.kind === kind).length;
  const objects = [
    ...(count('table') > 0 ? [formatNumberOf(count('table'), 'table')] : []),
    ...(count('index') > 0 ? [formatNumberOf(count('index'), 'index', 'indexes')] : []),
  ];
  const written = brief ? '' : `; ${writtenText(result)}`;
  if (rewrites.length === 0) return { text: `No table was rewritten${written}`, tone: 'plain' };
  return { text: `Rewritten: ${formatBytes(rewritten_bytes)} in ${objects.join(' and ')}${written}`, tone: 'caution' };
}

function workloadLine({ workload }: RehearsalResult): Headline[] {
  if (!workload) return [];
  return [{ text: `Load: ${workloadText(workload)}`, tone: workload.failed > 0 ? 'bad' : 'plain' }];
}
