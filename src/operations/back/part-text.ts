import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import type { BackPart, BackPlan } from '../../results/saves/save-results.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

/** Most lines, and keys in one. */
const LISTED = 6;

/** The question of the load of rows, with what differs in each table. */
export function partQuestion({ part, target, point }: BackPlan, question: Question): Question {
  if (!part) return question;
  const from = point === 'load' ? 'the last load' : `save ${printable(point)}`;
  return {
    ...question,
    title: `Return rows of ${formatNumberOf(part.tables.length, 'table')} of ${target} to ${from}`,
    facts: [...partFacts(part), ...question.facts],
  };
}

function partFacts({ tables, rows }: BackPart): Fact[] {
  const shown = tables.slice(0, LISTED);
  const more = tables.length - shown.length;
  return [
    ...(rows ? [{ name: 'Rows', value: printable(boundedList(rows, LISTED)), tone: 'strong' as const }] : []),
    ...shown.map(({ table, ...counts }, index) => {
      const text = `${printable(table)}: ${countsText(counts)}`;
      const value = index === shown.length - 1 && more > 0 ? `${text}; and ${more} more tables` : text;
      return { name: index === 0 ? 'Changes' : '', value, tone: 'strong' as const };
    }),
  ];
}

function countsText({ insert, update, delete: deleted }: Omit<BackPart['tables'][number], 'table'>): string {
  if (insert === null || update === null || deleted === null) return 'too many rows differ to be counted';
  if (insert + update + deleted === 0) return 'no row differs';
  return `insert ${formatNumberOf(insert, 'row')}, update ${update}, delete ${deleted}`;
}
