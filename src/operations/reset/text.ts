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
import { formatBytes, formatCount, formatNumberOf } from '../../text/format.ts';
import { shell } from '../../text/shell-word.ts';
import { copyText, loadedText, snapshotText } from '../load/copies-text.ts';
import { automaticSaveFacts } from '../save/text.ts';

export function resetQuestion(plan: ResetPlan, now: Date): Question {
  const { destination, base, from, needs_bytes, way, way_reason, automatic_saves = [] } = plan;
  const { database, host } = destination;
  const needs = needs_bytes === null ? 'unknown' : formatBytes(needs_bytes);
  return {
    title: `Reset ${plan.destination.database} to the last load of ${plan.target}`,
    subject: { badge: null, text: `base copy into ${database} on ${host}` },
    facts: [
      { name: 'Snapshot', value: snapshotText(base) },
      { name: 'Loaded', value: loadedText(base, now) },
      { name: 'Restores from', value: from === 'spare' ? `the spare of ${copyText(base)}` : copyText(base) },
      ...destinationFacts(destination),
      serverFact(destination),
      { name: 'Method', value: `${WAYS[way]}: ${way_reason}`, brief: WAYS[way] },
      { name: 'Disk space', value: `${needs} needed` },
      { name: 'Data', value: 'that of the last load' },
      ...automaticSaveFacts(automatic_saves),
      ...undoFacts(undoCommand(plan)),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: `${database} will be as right after its last load. ${consequenceOf(plan)}`,
    ask: `Reset database "${database}" on ${host}?`,
    go: `Reset ${database}`,
    typed: typedName(plan.destination),
  };
}

const WAYS = { in_place: 'in place', copy: 'by copy' };

function undoCommand({ target, undo, automatic_saves }: ResetPlan): string | null {
  if (automatic_saves) return `${shell`tool back ${target}`}, which returns to the newest save`;
  return undo ? shell`tool undo ${target}` : null;
}

function consequenceOf({ destination, way, undo, automatic_saves }: ResetPlan): string {
  if (way === 'copy') return replacement(destination, undo);
  const kept = automatic_saves ? 'The present state is saved first.' : 'This cannot be undone.';
  return `Sessions go on. ${kept}`;
}

export function resetTitle({ destination }: ResetPlan): string {
  return `reset ${destination.database}`;
}

export function resetSummary(result: ResetResult, { target, destination: { database } }: ResetPlan): RunSummary {
  const { swap_ms, undo_database, spare_database, changes } = result;
  return summaryOf(`Reset ${result.destination} to its state after the last load`, {
    card: { title: `${database} reset`, facts: [] },
    details: [
      ...(changes ? [changesText(changes)] : []),
      ...(spare_database === null ? [] : [`The spare for the next reset: ${spare_database}`]),
    ],
    ...unavailableFor(database, swap_ms),
    undo: undo_database === null ? null : { database, command: shell`tool undo ${target}` },
  });
}

function changesText({ tables, sequences }: NonNullable<ResetResult['changes']>): string {
  const rows = (kind: 'delete' | 'insert'): number => tables.reduce((sum, table) => sum + table[kind], 0);
  const changed = `deleted ${formatNumberOf(rows('delete'), 'row')}, inserted ${formatCount(rows('insert'))}, set ${formatNumberOf(sequences, 'sequence')}`;
  return `In place: ${changed}; no session was ended`;
}
