import { cellWidth } from '../src/text/text-width.ts';
import { Line, type Span } from './line.tsx';

export interface KeyHint {
  keys: string;
  label: string;
  disabled?: boolean;
  stays?: boolean;
}

/** The last line of a screen. Where room is short it drops disabled keys first, then keys from the end. */
export function KeyBar({ hints, width }: { hints: KeyHint[]; width: number }) {
  const spans = fitting(hints, width - 2).flatMap((hint, index): Span[] => [
    { text: index === 0 ? ' ' : '   ' },
    { text: hint.keys, tone: hint.disabled ? 'dim' : 'accent', bold: !hint.disabled },
    { text: ` ${hint.label}`, tone: 'dim' },
  ]);
  return <Line spans={spans} width={width} />;
}

function fitting(hints: KeyHint[], width: number): KeyHint[] {
  const shown = [...hints];
  while (barWidth(shown) > width) {
    const useless = shown.findLastIndex((hint) => hint.disabled && !hint.stays);
    const index = useless === -1 ? shown.findLastIndex((hint) => !hint.stays) : useless;
    if (index === -1) break;
    shown.splice(index, 1);
  }
  return shown;
}

function barWidth(hints: KeyHint[]): number {
  return hints.reduce((sum, { keys, label }) => sum + cellWidth(keys) + 1 + cellWidth(label) + 3, -3);
}
