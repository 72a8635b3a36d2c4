import {
  destinationFacts,
  type Question,
  typedName,
  undoFacts,
  warningsOf,
} from '../../../presentation/shapes/question.ts';
import { summaryOf, unavailableFor } from '../../../presentation/shapes/summary.ts';
import type { BranchSwitchPlan, BranchSwitchResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { printable } from '../../../text/printable.ts';
import { shell } from '../../../text/shell-word.ts';
import { automaticSaveFacts } from '../../save/text.ts';
import { sizeText } from '../shared-text.ts';

export function branchSwitchQuestion(plan: BranchSwitchPlan): Question {
  const { target, destination, branch, previous } = plan;
  const { database } = destination;
  const kept = previous === null ? 'kept as the undo copy' : `branch ${printable(previous)}, under its own name`;
  return {
    title: `Switch ${database} to branch ${branch.name} of ${target}`,
    facts: [
      ...destinationFacts(destination),
      { name: 'Branch', value: `${printable(branch.database)}, ${sizeText(branch.size_bytes)}` },
      ...(destination.exists ? [{ name: 'Previous', value: kept }] : []),
      ...automaticSaveFacts(plan.automatic_saves ?? []),
      ...undoFacts(destination.exists ? shell`tool undo ${target}` : null),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: destination.exists
      ? `Clients of ${database} and ${branch.database} will be disconnected. ${shell`tool undo ${target}`} reverts the switch.`
      : `${database} does not exist yet. Clients of ${branch.database} will be disconnected.`,
    ask: `Switch database "${database}" on ${destination.host} to branch "${branch.name}"?`,
    go: `Switch to ${branch.name}`,
    typed: typedName(plan.destination),
  };
}

export function branchSwitchSummary(result: BranchSwitchResult): RunSummary {
  const { target, destination, branch, previous, swap_ms, undo_database } = result;
  const reverts = previous !== null || undo_database !== null;
  return summaryOf(`Switched ${destination} to branch ${printable(branch)}`, {
    card: { title: `Switched to branch ${printable(branch)}`, facts: [] },
    ...unavailableFor('The destination', swap_ms),
    undo: reverts ? { database: 'destination', command: shell`tool undo ${target}` } : null,
  });
}
