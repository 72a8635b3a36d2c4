import type { Span } from '../../components/line.tsx';

/** The spans with every occurrence of the words of a filter emphasized. */
export function highlighted(spans: Span[], filter: string): Span[] {
  const words = filter.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return spans;
  // A longer word wins where two begin at the same place.
  const escaped = words
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = new RegExp(`(${escaped.join('|')})`, 'iu');
  return spans.flatMap((span) =>
    // A pattern with a group: every second part is a match.
    span.text.split(pattern).flatMap((text, index): Span[] => {
      if (text === '') return [];
      return [index % 2 === 1 ? { text, tone: 'accent', bold: true } : { ...span, text }];
    }),
  );
}
