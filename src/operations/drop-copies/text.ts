import { type Question, typedName } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import type { DropCopiesPlan, DropCopiesResult } from '../../results/load-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { copyText } from '../load/copies-text.ts';

export function dropCopiesQuestion({ destination, copies }: DropCopiesPlan): Question {
  const { database, host } = destination;
  return {
    title: `Drop the base copy of ${database}`,
    facts: [
      { name: 'Destination', value: destination.url, tone: 'strong' },
      ...copies.map((copy) => ({ name: 'Drop', value: copyText(copy) })),
    ],
    steps: [],
    warnings: [],
    consequence: `${database} and its undo copy are not changed. tool reset needs another load with --keep-base.`,
    ask: `Drop the base copy of "${database}" on ${host}?`,
    go: 'Drop',
    typed: typedName(destination),
  };
}

export function dropCopiesSummary({ destination, dropped }: DropCopiesResult): RunSummary {
  return summaryOf(`Dropped ${dropped.join(' and ') || 'no copy'} of ${destination}`);
}
