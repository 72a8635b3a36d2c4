import {
  destinationFacts,
  type Question,
  replacement,
  serverFact,
  typedName,
  undoFacts,
  warningsOf,
} from '../../presentation/shapes/question.ts';
import { summaryOf, unavailableFor } from '../../presentation/shapes/summary.ts';
import type { ResetPlan, ResetResult } from '../../results/load-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes } from '../../text/format.ts';
import { copyText, loadedText, snapshotText } from '../load/copies-text.ts';

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
    typed: typedName(plan.destination),
  };
}

export function resetTitle({ target, destination }: ResetPlan): string {
  return `Reset ${destination.database} to the last load of ${target}`;
}

export function resetSummary(result: ResetResult, { target, destination: { database } }: ResetPlan): RunSummary {
  const { swap_ms, undo_database, spare_database } = result;
  return summaryOf(`Reset ${result.destination} to its state after the last load`, {
    card: { title: `${database} reset`, facts: [] },
    details: spare_database === null ? [] : [`The spare for the next reset: ${spare_database}`],
    ...unavailableFor(database, swap_ms),
    undo: undo_database === null ? null : { database, command: `tool undo ${target}` },
  });
}
