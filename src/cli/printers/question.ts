import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import { printable } from '../../text/printable.ts';
import { cellWidth } from '../../text/text-width.ts';

/** A plan as lines: what a dry run prints, and what is read before an answer. */
export function questionLines({ title, facts, steps, warnings, consequence }: Question): string[] {
  return [
    title,
    ...printedFacts(facts),
    ...steps.map((step, index) => `  ${String(index + 1).padStart(2)}. ${step}`),
    ...warnings.map((warning) => `  warning: ${warning}`),
    `  ${consequence}`,
  ].map((line) => printable(line));
}

/** `  Name     value`: names and values in two columns. */
export function printedFacts(facts: Fact[]): string[] {
  const width = Math.max(0, ...facts.map(({ name }) => cellWidth(name)));
  return facts.map(({ name, value }) => printable(`  ${name}${' '.repeat(width - cellWidth(name))}  ${value}`));
}
