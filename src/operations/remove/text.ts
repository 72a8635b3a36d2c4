import type { Question } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import {
  contentsText,
  FREED,
  kindBadge,
  locationText,
  snapshotFact,
  snapshotName,
} from '../../presentation/snapshot.ts';
import type { RemovePlan } from '../../results/results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes } from '../../text/format.ts';

export function removeQuestion(plan: RemovePlan, now: Date): Question {
  const { target, snapshot, from, frees_bytes } = plan;
  return {
    title: `Remove ${snapshotName(target, snapshot)}`,
    subject: { badge: kindBadge(snapshot.sanitized), text: `${snapshot.id} of ${target}` },
    facts: [
      snapshotFact(snapshot, now),
      { name: 'Target', value: target },
      { name: 'Contents', value: contentsText(snapshot) },
      { name: 'Note', value: snapshot.note ?? 'none' },
      ...(snapshot.pinned ? [{ name: 'Pinned', value: 'yes', tone: 'caution' as const }] : []),
      { name: 'From', value: locationText(from) },
      { name: 'Frees', value: `${formatBytes(frees_bytes)}, ${FREED}` },
    ],
    steps: [],
    warnings: [],
    consequence: 'The snapshot will be removed. This cannot be undone.',
    ask: `Remove ${snapshotName(plan.target, plan.snapshot)}?`,
    go: 'Remove the snapshot',
    typed: null,
  };
}

export function removeTitle({ snapshot }: RemovePlan): string {
  return `remove ${snapshot.id}`;
}

export function removeSummary({ target, snapshot, from, frees_bytes }: RemovePlan): RunSummary {
  const place = from.length === 1 ? ` from ${locationText(from)}` : '';
  return summaryOf(`Removed ${snapshotName(target, snapshot)}${place}: frees ${formatBytes(frees_bytes)}`);
}
