import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import { printable } from '../../text/printable.ts';
import { cellWidth } from '../../text/text-width.ts';
import { wrapWords } from '../../text/wrap-words.ts';

/** A plan as lines: what a dry run prints, and what is read before an answer. Wrapped to the columns of a terminal. */
export function questionLines(
  { title, facts, steps, warnings, consequence }: Question,
  columns: number | null = null,
): string[] {
  return [
    title,
    ...printedFacts(facts, columns),
    ...steps.flatMap((step, index) => hangingLines(`  ${String(index + 1).padStart(2)}. `, step, columns)),
    ...warnings.flatMap((warning) => hangingLines('  warning: ', warning, columns)),
    ...hangingLines('  ', consequence, columns),
  ].map((line) => printable(line));
}

/** `  Name     value`: names and values in two columns. */
export function printedFacts(facts: Fact[], columns: number | null = null): string[] {
  const width = Math.max(0, ...facts.map(({ name }) => cellWidth(name)));
  return facts.flatMap(({ name, value }) =>
    hangingLines(`  ${name}${' '.repeat(width - cellWidth(name))}  `, value, columns).map((line) => printable(line)),
  );
}

function hangingLines(first: string, text: string, columns: number | null): string[] {
  if (columns === null) return [`${first}${text}`];
  const indent = cellWidth(first);
  return wrapWords(text, columns - indent).map((line, index) => `${index === 0 ? first : ' '.repeat(indent)}${line}`);
}
