import type { BranchTotals, DatabaseCopies, DatabaseCopy, DestinationCopies } from '../results/database-copies.ts';
import type { DropCopiesPlan, DropCopiesResult, ResetPlan, ResetResult } from '../results/load-results.ts';
import type { RunSummary } from '../state/runs.ts';
import { formatAge, formatBytes, formatCount, formatTime } from '../text/format.ts';
import type { Fact } from './shapes/fact.ts';
import {
  destinationFacts,
  type Question,
  replacement,
  serverFact,
  typedName,
  undoFacts,
  warningsOf,
} from './shapes/question.ts';
import { summaryOf, unavailableFor } from './shapes/summary.ts';

export function resetQuestion(plan: ResetPlan, now: Date): Question {
  const { target, destination, base, from, undo, needs_bytes } = plan;
  const { database, host } = destination;
  const needs = needs_bytes === null ? 'unknown' : formatBytes(needs_bytes);
  return {
    title: resetTitle(plan),
    subject: { badge: null, text: `base copy into ${database} on ${host}` },
    facts: [
      { name: 'Snapshot', value: snapshotText(base) },
      { name: 'Loaded', value: loadedText(base, now) },
      { name: 'Restores from', value: from === 'spare' ? `the spare of ${copyText(base)}` : copyText(base) },
      ...destinationFacts(destination),
      serverFact(destination),
      { name: 'Disk space', value: `${needs} needed` },
      { name: 'Data', value: 'that of the last load' },
      ...undoFacts(undo ? `tool undo ${target}` : null),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: `${database} will be as right after its last load. ${replacement(destination, undo)}`,
    ask: `Reset database "${database}" on ${host}?`,
    go: `Reset ${database}`,
    typed: typedName(plan),
  };
}

export function resetTitle({ target, destination }: ResetPlan): string {
  return `Reset ${destination.database} to the last load of ${target}`;
}

export function resetSummary({ target, destination: { database } }: ResetPlan, result: ResetResult): RunSummary {
  const { swap_ms, undo_database, spare_database } = result;
  return summaryOf(`Reset ${result.destination} to its state after the last load`, {
    card: { title: `${database} reset`, facts: [] },
    details: spare_database === null ? [] : [`The spare for the next reset: ${spare_database}`],
    ...unavailableFor(database, swap_ms),
    undo: undo_database === null ? null : { database, command: `tool undo ${target}` },
  });
}

export function dropCopiesQuestion({ destination, copies }: DropCopiesPlan): Question {
  const { database, host, local } = destination;
  return {
    title: `Drop the base copy of ${database}`,
    facts: [
      { name: 'Destination', value: destination.url, tone: 'strong' },
      ...copies.map((copy) => ({ name: 'Drop', value: copyText(copy) })),
    ],
    steps: [],
    warnings: [],
    consequence: `${database} and its undo copy are not changed. tool reset needs another load with --keep-base.`,
    ask: `Drop the base copy of "${database}" on ${host}?`,
    go: 'Drop',
    typed: local ? null : { name: database, why: 'not local' },
  };
}

export function dropCopiesSummary({ destination, dropped }: DropCopiesResult): RunSummary {
  return summaryOf(`Dropped ${dropped.join(' and ') || 'no copy'} of ${destination}`);
}

/** Copies of an earlier load in the plan of an operation that replaces the destination. */
export function copiesFacts({ base, spare }: DatabaseCopies, becomes: (copy: DatabaseCopy) => string): Fact[] {
  return [
    ...(base ? [{ name: 'Base copy', value: `${copyText(base)}; ${becomes(base)}` }] : []),
    ...(spare ? [{ name: 'Spare', value: `${copyText(spare)}; ${becomes(spare)}` }] : []),
  ];
}

/** `app_dev.tool-base, 812 MB, of snapshot 1a2b3c4d`, or why it cannot be used. */
export function copyDetail(copy: DatabaseCopy): string {
  const state = copy.outdated === null ? '' : `; cannot be used: ${copy.outdated}`;
  return `${copyText(copy)}, of snapshot ${snapshotText(copy)}${state}`;
}

/** `2 branches, 340 MB`, or at most so much where they share blocks with the base copy. */
export function branchesDetail({ count, size_bytes, own_bytes }: BranchTotals): string {
  const branches = `${formatCount(count)} ${count === 1 ? 'branch' : 'branches'}`;
  if (own_bytes !== null) return `${branches}, ${formatBytes(own_bytes)}`;
  return size_bytes === null ? branches : `${branches}, at most ${formatBytes(size_bytes)}`;
}

export function copiesLines({ base, spare, branches }: DestinationCopies): string[] {
  return [
    ...(base ? [`base copy ${copyDetail(base)}`] : []),
    ...(spare ? [`spare ${copyDetail(spare)}`] : []),
    ...(branches ? [branchesDetail(branches)] : []),
  ];
}

/** What they take on the disks of their servers, at most; `null` where a size is unknown. */
export function copiesBytes(copies: DestinationCopies[]): number | null {
  const sizes = copies.flatMap(({ base, spare, branches }) => [
    ...[base, spare].flatMap((copy) => (copy ? [copy.size_bytes] : [])),
    ...(branches ? [branches.own_bytes ?? branches.size_bytes] : []),
  ]);
  return sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

function copyText({ database, size_bytes }: DatabaseCopy): string {
  return size_bytes === null ? database : `${database}, ${formatBytes(size_bytes)}`;
}

function snapshotText({ snapshot, partial }: DatabaseCopy): string {
  return `${snapshot ?? 'unknown'}${partial ? ', of which the load lacked rows or objects' : ''}`;
}

function loadedText({ loaded_at }: DatabaseCopy, now: Date): string {
  const at = Date.parse(loaded_at);
  return Number.isNaN(at) ? 'at an unknown time' : `${formatAge(now.getTime() - at)} (${formatTime(loaded_at)})`;
}
