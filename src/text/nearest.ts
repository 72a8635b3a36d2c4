/** The closest known word; `null` when none is within a third of its length. */
export function nearest(wanted: string, known: readonly string[]): string | null {
  return nearestFew(wanted, known, 1)[0] ?? null;
}

/** The closest known words first. */
export function nearestFew(wanted: string, known: readonly string[], most: number): string[] {
  return (
    known
      // Skips the computation for words whose lengths differ too much.
      .filter((word) => Math.abs(wanted.length - word.length) <= word.length / 3)
      .map((word) => ({ word, mistakes: mistakesIn(wanted, word) }))
      .filter(({ word, mistakes }) => mistakes <= word.length / 3)
      .sort((a, b) => a.mistakes - b.mistakes)
      .slice(0, most)
      .map(({ word }) => word)
  );
}

/** Optimal string alignment distance: extra, missing, wrong and swapped characters. */
function mistakesIn(wanted: string, word: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: word.length + 1 }, (_, column) => column);
  for (let row = 1; row <= wanted.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= word.length; column += 1) {
      const [letter, other] = [wanted[row - 1], word[column - 1]];
      const isSwapped = row > 1 && column > 1 && letter === word[column - 2] && other === wanted[row - 2];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (letter === other ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, word.length);
}

function at(row: number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
