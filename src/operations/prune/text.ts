import { listFacts } from '../../presentation/shapes/fact.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import { briefName, FREED, locationText } from '../../presentation/snapshot.ts';
import type { KeepPolicy } from '../../repository/keep-policy.ts';
import type { PrunedTarget, PrunePlan, SnapshotRow } from '../../results/results.ts';
import type { ServerFiles } from '../../results/running-servers.ts';
import type { RunSummary } from '../../state/runs.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { formatAge, formatBytes, formatNumberOf, formatTime } from '../../text/format.ts';
import { copiesLines } from '../load/copies-text.ts';

export function pruneQuestion(plan: PrunePlan, now: Date): Question {
  const saves = removedSaves(plan);
  const count = [
    formatNumberOf(removedBy(plan) - saves, 'snapshot'),
    ...(saves > 0 ? [formatNumberOf(saves, 'save')] : []),
  ].join(' and ');
  return {
    title: `Remove ${count}, keep ${keptBy(plan)}`,
    facts: [
      ...plan.targets.filter(({ remove }) => remove.length > 0).flatMap((target) => targetFacts(target, now)),
      { name: 'Frees', value: `${formatBytes(plan.frees_bytes)}, ${FREED}` },
      ...listFacts('Saves', savesLines(plan)),
      ...listFacts('Not removed', prunedCopyLines(plan)),
    ],
    steps: [],
    warnings: [],
    consequence: removedBy(plan) === 0 ? 'Every snapshot is kept.' : `${count} will be removed. This cannot be undone.`,
    ask: removedBy(plan) === 0 ? 'Nothing to remove.' : `Remove ${count}?`,
    go: removedBy(plan) === 0 ? 'Keep every snapshot' : `Remove ${count}`,
    typed: null,
  };
}

/** Rules to choose from on screen; the command line has others. */
export const PRUNE_RULES: { label: string; keep: KeepPolicy }[] = [
  ...[3, 5, 10, 20].map((last) => ({ label: `Keep the ${last} newest`, keep: { last } })),
  { label: 'Keep one a day of 7 days', keep: { daily: 7 } },
  { label: 'Keep one a day of 7 days, one a week of 4 weeks', keep: { daily: 7, weekly: 4 } },
  { label: 'Keep one a day of 7 days, a week of 4 weeks, a month of 12', keep: { daily: 7, weekly: 4, monthly: 12 } },
];

export const PRUNE_QUESTION = 'Which snapshots to keep?';
export const PRUNE_LINES = ['Pinned snapshots are always kept. The plan lists what would be removed.'];

/** Databases on servers, images and servers, which only other commands remove. */
export function prunedCopyLines({ targets }: PrunePlan): string[] {
  const lines = targets.flatMap(({ target, copies }) =>
    copies ? copiesLines(copies).map((line) => `${target}: ${line}`) : [],
  );
  const files = targets.flatMap(({ target, servers }) => (servers ? [`${target}: ${serverFilesText(servers)}`] : []));
  return [
    ...(lines.length === 0 ? [] : [...lines, 'To drop them: tool reset TARGET --drop, tool branch prune']),
    ...(files.length === 0 ? [] : [...files, 'To stop servers: tool down TARGET']),
  ];
}

/** `1 image, 2 servers, 90.1 MB` */
function serverFilesText({ images, servers, size_bytes }: ServerFiles): string {
  return [
    ...(images > 0 ? [formatNumberOf(images, 'image')] : []),
    ...(servers > 0 ? [formatNumberOf(servers, 'server')] : []),
    formatBytes(size_bytes),
  ].join(', ');
}

export function pruneSummary(plan: PrunePlan): RunSummary {
  const kept = keptBy(plan);
  if (removedBy(plan) === 0) {
    const details = [...savesLines(plan), ...prunedCopyLines(plan)];
    return summaryOf(`Every snapshot is kept: ${formatNumberOf(kept, 'snapshot')}`, { details });
  }
  const snapshots = formatNumberOf(removedBy(plan) - removedSaves(plan), 'snapshot');
  return summaryOf(`Removed ${snapshots}, kept ${kept}`, { details: savesLines(plan) });
}

function targetFacts({ target, keep, remove, from }: PrunedTarget, now: Date) {
  const count = `${formatNumberOf(remove.length, 'snapshot')} of ${target} from ${locationText(from)}, keep ${keep.length}`;
  return [{ name: 'Remove', value: count }, ...remove.map((row) => ({ name: '', value: rowText(row, now) }))];
}

function rowText(row: SnapshotRow, now: Date): string {
  const { index, created_at, note } = row;
  const age = formatAge(now.getTime() - Date.parse(created_at));
  return [index, briefName(row), formatTime(created_at), age, ...(note === null ? [] : [note])].join('  ');
}

/** Snapshots and saves. */
export function removedBy(plan: PrunePlan): number {
  return plan.targets.reduce((sum, { remove }) => sum + remove.length, removedSaves(plan));
}

function removedSaves({ targets }: PrunePlan): number {
  return targets.reduce((sum, { saves }) => sum + (saves?.remove.length ?? 0), 0);
}

/** `app: 3 saves, 12.0 MB beside snapshots; removes one, two` */
function savesLines({ targets }: PrunePlan): string[] {
  return targets.flatMap(({ target, saves }) => {
    if (!saves) return [];
    const count = formatNumberOf(saves.keep.length + saves.remove.length, 'save');
    const names = boundedList(
      saves.remove.map(({ name, branch }) => (branch ? `${name} of branch ${branch.name}` : name)),
      MOST_SAVES,
    );
    const removes = saves.remove.length === 0 ? '' : `; removes ${names}, by saves in the configuration`;
    return [`${target}: ${count}, ${formatBytes(saves.size_bytes)} beside snapshots${removes}`];
  });
}

const MOST_SAVES = 5;

function keptBy({ targets }: PrunePlan): number {
  return targets.reduce((sum, { keep }) => sum + keep.length, 0);
}
