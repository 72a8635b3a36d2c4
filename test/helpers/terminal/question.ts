import type { Question } from '../../../src/presentation/shapes/question.ts';

/** A question with little in it. */
export function questionOf(change: Partial<Question> = {}): Question {
  return {
    title: 'Load snapshot 0',
    facts: [],
    steps: [],
    warnings: [],
    consequence: 'app will be replaced.',
    ask: 'Replace database "app"?',
    go: 'Replace app',
    typed: null,
    ...change,
  };
}
