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
import { boundedList } from '../../text/bounded-list.ts';
import { formatAge, formatBytes, formatNumberOf, formatTime } from '../../text/format.ts';
import { shell } from '../../text/shell-word.ts';
import { copiesFacts } from '../load/copies-text.ts';

export function undoQuestion(plan: UndoPlan, now: Date): Question {
  const { target, destination, undo_database, replaced_at, size_bytes, tables, copies, keeps_copies } = plan;
  const { database, host } = destination;
  const age = formatAge(now.getTime() - Date.parse(replaced_at));
  return {
    title: `Undo the last load of ${plan.target} into ${plan.destination.database}`,
    subject: { badge: null, text: `previous version into ${database} on ${host}` },
    facts: [
      ...destinationFacts(destination),
      serverFact(destination),
      ...(tables ? [{ name: 'Rows of', value: boundedList(tables, LISTED), tone: 'strong' as const }] : []),
      { name: 'Restores', value: `${undo_database}, ${formatBytes(size_bytes)}` },
      { name: 'Replaced', value: `${age} (${formatTime(replaced_at)})` },
      { name: 'Data', value: 'not known to be sanitized: it is the data of the replaced database' },
      ...(copies
        ? copiesFacts(copies, ({ outdated }) => outdated ?? (keeps_copies ? 'stays' : 'not usable until a second undo'))
        : []),
    ],
    steps: [],
    warnings: warningsOf(plan),
    consequence: tables
      ? `The rows of ${formatNumberOf(tables.length, 'table')} will be as before the last load of ${target}; the rest of ${database} stays. A second undo reverses this.`
      : `${database} will be as before the last load of ${target}. A second undo reverses this.`,
    ask: tables
      ? `Restore the previous rows in "${database}" on ${host}?`
      : `Restore the previous database "${database}" on ${host}?`,
    go: tables ? 'Restore the previous rows' : `Restore the previous ${database}`,
    typed: typedName(plan.destination),
  };
}

/** Most names in a line. */
const LISTED = 6;

export function undoTitle({ destination }: UndoPlan): string {
  return `undo ${destination.database}`;
}

export function undoSummary(result: LoadResult, { target, tables, destination: { database } }: UndoPlan): RunSummary {
  const what = tables ? `rows of ${formatNumberOf(tables.length, 'table')} in ` : '';
  return summaryOf(`Restored the previous ${what}${result.destination}`, {
    card: { title: `${database} restored`, facts: [] },
    ...unavailableFor(database, result.swap_ms),
    undo:
      result.undo_database === null
        ? null
        : { database, command: shell`tool undo ${target}`, rows: tables !== undefined },
  });
}
