import { closest, distance } from 'fastest-levenshtein';

/** The known word that was probably meant; `null` when none is near enough to be suggested. */
export function nearest(wanted: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const word = closest(wanted, known);
  return distance(wanted, word) <= Math.max(2, word.length / 3) ? word : null;
}
