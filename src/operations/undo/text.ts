import {
  destinationFacts,
  type Question,
  serverFact,
  typedName,
  warningsOf,
} from '../../presentation/shapes/question.ts';
import { summaryOf, unavailableFor } from '../../presentation/shapes/summary.ts';
import type { LoadResult, UndoPlan } from '../../results/load-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatAge, formatBytes, formatTime } from '../../text/format.ts';
import { copiesFacts } from '../load/copies-text.ts';

export function undoQuestion(plan: UndoPlan, now: Date): Question {
  const { target, destination, undo_database, replaced_at, size_bytes, copies } = plan;
  const { database, host } = destination;
  const age = formatAge(now.getTime() - Date.parse(replaced_at));
  return {
    title: undoTitle(plan),
    subject: { badge: null, text: `previous version into ${database} on ${host}` },
    facts: [
      ...destinationFacts(destination),
      serverFact(destination),
      { name: 'Restores', value: `${undo_database}, ${formatBytes(size_bytes)}` },
      { name: 'Replaced', value: `${age} (${formatTime(replaced_at)})` },
      { name: 'Data', value: 'not known to be sanitized: it is the data of the replaced database' },
      ...(copies ? copiesFacts(copies, ({ outdated }) => outdated ?? 'not usable until a second undo') : []),
    ],
    steps: [],
    warnings: warningsOf(plan),
    consequence: `${database} will be as before the last load of ${target}. A second undo reverses this.`,
    ask: `Restore the previous database "${database}" on ${host}?`,
    go: `Restore the previous ${database}`,
    typed: typedName(plan.destination),
  };
}

export function undoTitle({ target, destination }: UndoPlan): string {
  return `Undo the last load of ${target} into ${destination.database}`;
}

export function undoSummary(result: LoadResult, { target, destination: { database } }: UndoPlan): RunSummary {
  return summaryOf(`Restored the previous ${result.destination}`, {
    card: { title: `${database} restored`, facts: [] },
    ...unavailableFor(database, result.swap_ms),
    undo: result.undo_database === null ? null : { database, command: `tool undo ${target}` },
  });
}
