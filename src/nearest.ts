import { distance } from 'fastest-levenshtein';

/** Longer words are not compared letter by letter with those that they may have been meant for. */
const LONGEST = 64;

/** The known word that was probably meant; `null` when none is within a third of its length. */
export function nearest(wanted: string, known: readonly string[]): string | null {
  return nearestFew(wanted, known, 1)[0] ?? null;
}

/** The known words that may have been meant, the nearest first, at most so many. */
export function nearestFew(wanted: string, known: readonly string[], most: number): string[] {
  return known
    .map((word) => ({ word, mistakes: mistakesIn(wanted, word) }))
    .filter(({ word, mistakes }) => mistakes <= word.length / 3)
    .sort((a, b) => a.mistakes - b.mistakes)
    .slice(0, most)
    .map(({ word }) => word);
}

/** The Levenshtein distance, in which two letters that changed places count as one mistake. */
function mistakesIn(wanted: string, word: string): number {
  const mistakes = distance(wanted, word);
  if (mistakes < 2 || wanted.length > LONGEST || Math.abs(wanted.length - word.length) > 1) return mistakes;
  const swapped = Array.from(wanted.slice(1), (letter, index) => {
    return wanted.slice(0, index) + letter + wanted[index] + wanted.slice(index + 2);
  });
  return Math.min(mistakes, ...swapped.map((text) => distance(text, word) + 1));
}
