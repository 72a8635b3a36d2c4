import { dataWord } from '../../src/results/sanitize-results.ts';
import type { SubsetPlanResult } from '../../src/results/subset-results.ts';
import { formatCount, formatNumberOf } from '../../src/text/format.ts';
import { destinationFacts, nameToType, type Question, unverifiedWarnings } from '../confirm/question-facts.ts';

export function subsetQuestion(plan: SubsetPlanResult): Question {
  const { source, destination, tables, warnings, undo } = plan;
  const { database, exists } = destination;
  const filled = tables.filter(({ rows_expected }) => (rows_expected ?? 0) > 0);
  const rows = filled.reduce((sum, { rows_expected }) => sum + (rows_expected ?? 0), 0);
  return {
    facts: [
      { name: 'Source', value: source },
      {
        name: 'Contents',
        value: `${formatNumberOf(filled.length, 'table')} with rows, ${formatCount(rows)} rows, ${dataWord(plan)}`,
      },
      ...destinationFacts(destination),
    ],
    steps: [
      'Find the rows in the source, at one instant; nothing in it is written',
      'Copy them into a new database beside the destination',
      'Prove every reference',
      `Give it the name ${database}`,
    ],
    warnings: [...unverifiedWarnings(plan), ...summaryOf(warnings, tables)],
    consequence: exists
      ? `${database} is replaced. ${undo ? 'What it holds now is kept for one undo.' : 'This cannot be undone.'}`
      : `${database} does not exist yet: it is created.`,
    safe: exists ? `Leave ${database} as it is` : 'Do not make it',
    go: exists ? `Replace ${database}` : `Create ${database}`,
    typeName: nameToType(destination, plan),
  };
}

/** Harmless warnings as counts: the plan shown before has the details. */
function summaryOf(warnings: SubsetPlanResult['warnings'], tables: SubsetPlanResult['tables']): string[] {
  const slow = warnings.filter(({ code }) => code === 'reference_without_index').length;
  const empty = tables.filter(({ rule }) => rule === 'empty').length;
  return [
    ...(slow > 0 ? [`${formatNumberOf(slow, 'reference')} without an index: these tables are read whole`] : []),
    ...(empty > 0 ? [`${formatNumberOf(empty, 'table')} created empty, since nothing leads to them`] : []),
    ...warnings.filter(({ code }) => !SUMMED.includes(code)).map(({ message }) => message),
  ];
}

const SUMMED = ['reference_without_index', 'table_not_reached'];
