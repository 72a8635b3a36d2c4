import type { LoadResult, UndoPlan } from '../results/results.ts';
import { formatAge, formatBytes } from '../text/format.ts';
import { destinationLines, typedName } from './destination.ts';
import type { Question } from './question.ts';

/** What an undo would put back, and in place of what. */
export function undoPlanLines({ target, destination, undo_database, replaced_at, size_bytes }: UndoPlan, now: Date) {
  const age = formatAge(now.getTime() - Date.parse(replaced_at));
  return [
    `Undo the last load of ${target}`,
    ...destinationLines(destination),
    `  returns   ${undo_database}, ${formatBytes(size_bytes)}, replaced ${age}`,
    '  data      not known to be sanitized: it is that of the replaced database',
    '  undo      the database as it is now is kept in its place: tool undo once more brings it back',
  ];
}

export function undoQuestion(plan: UndoPlan, now: Date): Question {
  const { database, host } = plan.destination;
  return {
    plan: undoPlanLines(plan, now),
    ask: `Put back what was database "${database}" on ${host}?`,
    ...typedName(plan.destination),
  };
}

export function undoneText({ target }: UndoPlan, { destination }: LoadResult): string {
  return `Put back ${destination} as it was before the last load of ${target}`;
}
