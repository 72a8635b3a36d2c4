/** The first items of a list, and the number of the others: `a, b and 3 more`. */
export function boundedList(items: string[], most: number): string {
  const more = items.length - most;
  return `${items.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The same as lines: `and 3 more` is the last one. */
export function boundedLines(lines: string[], most: number): string[] {
  const more = lines.length - most;
  return more > 0 ? [...lines.slice(0, most), `and ${more} more`] : lines;
}
