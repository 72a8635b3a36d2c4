import { cutSpans, Line, type Span, spansWidth } from './line.tsx';
import { useTheme } from './theme.ts';

export interface StatusBarProps {
  /** The current activity; it gets the remaining room. */
  left: Span[];
  facts: StatusFact[];
  width: number;
}

export interface StatusFact extends Span {
  /** Order of removal where room is short: the highest rank goes first; 0 stays. */
  dropRank: number;
}

const MARGIN = 1;
const GAP = 2;

/** One line: the last result or the run in progress at the left, facts of the session at the right. */
export function StatusBar({ left, facts, width }: StatusBarProps) {
  const { glyphs } = useTheme();
  const room = width - MARGIN * 2;
  const separator: Span = { text: ` ${glyphs.dot} `, tone: 'dim' };
  const joined = (shown: StatusFact[]): Span[] =>
    shown.flatMap(({ text, tone = 'plain', bold = false }, index) => [
      ...(index > 0 ? [separator] : []),
      { text, tone, bold },
    ]);
  const used = spansWidth(left);
  let shown = facts.filter(({ text }) => text !== '');
  const needed = () => used + (used > 0 && shown.length > 0 ? GAP : 0) + spansWidth(joined(shown));
  while (needed() > room) {
    const ranks = shown.map(({ dropRank }) => dropRank);
    const worst = Math.max(0, ...ranks);
    if (worst === 0) break;
    shown = shown.filter(({ dropRank }) => dropRank !== worst);
  }
  const right = joined(shown);
  const rightWidth = spansWidth(right);
  const cutLeft = cutSpans(left, Math.max(0, room - rightWidth - (rightWidth > 0 ? GAP : 0)), glyphs.ellipsis);
  const space = ' '.repeat(Math.max(0, room - spansWidth(cutLeft) - rightWidth));
  return <Line spans={[{ text: ' ' }, ...cutLeft, { text: space }, ...right]} width={width} surface="bar" />;
}
