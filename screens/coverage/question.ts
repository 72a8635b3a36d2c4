import type { Fact } from '../../components/facts.tsx';
import type { SanitizePlan } from '../../src/results/sanitize-results.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import {
  destinationFacts,
  nameToType,
  type Question,
  snapshotLine,
  unverifiedWarnings,
} from '../confirm/question-facts.ts';

export function sanitizeQuestion(plan: SanitizePlan, now: Date): Question {
  const { snapshot, query, destination, where, strict, steps, warnings } = plan;
  const { database = '', exists = false } = destination ?? {};
  const place: Fact[] = destination ? destinationFacts(destination) : [{ name: 'Where', value: where }];
  return {
    facts: [
      { name: 'Snapshot', value: snapshot ? snapshotLine(snapshot, now) : 'a new one' },
      {
        name: 'Query',
        value: `${query.file ?? query.chosen_by}, ${formatNumberOf(query.statements.length, 'statement')}`,
      },
      ...place,
      ...(strict ? [{ name: 'Strict', value: 'nothing is published while personal data is left' }] : []),
    ],
    steps,
    warnings: [...unverifiedWarnings(plan), ...warnings.map(({ message }) => message)],
    consequence: consequenceOf(plan),
    safe: exists ? `Leave ${database} as it is` : 'Do not sanitize',
    go: exists ? `Sanitize, and replace ${database}` : 'Sanitize',
    typeName: destination && exists ? nameToType(destination, plan) : null,
  };
}

function consequenceOf({ destination, undo }: SanitizePlan): string {
  if (!destination) return 'A throw-away database is made and dropped; the original snapshot stays as it is.';
  const { database, exists } = destination;
  if (!exists) return `${database} does not exist yet: it is created. The original snapshot stays as it is.`;
  return undo
    ? `${database} is replaced. What it holds now is kept for one undo.`
    : `${database} is replaced. This cannot be undone.`;
}
