import { createContext, useContext } from 'react';

/** What a piece of text means; the theme says how that looks. */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'caution' | 'bad';

export interface Theme {
  glyphs: Glyphs;
}

export interface Glyphs {
  pointer: string;
  ellipsis: string;
  rule: string;
  dot: string;
  arrow: string;
  none: string;
  barFull: string;
  barEmpty: string;
  caret: string;
  /** States, so that they can be told apart without colour. */
  good: string;
  bad: string;
  caution: string;
  pending: string;
  running: string;
  skipped: string;
}

const UNICODE: Glyphs = {
  pointer: '❯',
  ellipsis: '…',
  rule: '─',
  dot: '·',
  arrow: '→',
  none: '–',
  barFull: '█',
  barEmpty: '░',
  caret: '▏',
  good: '✓',
  bad: '✗',
  caution: '!',
  pending: '○',
  running: '●',
  skipped: '–',
};

const ASCII: Glyphs = {
  pointer: '>',
  ellipsis: '~',
  rule: '-',
  dot: '|',
  arrow: '->',
  none: '-',
  barFull: '#',
  barEmpty: '.',
  caret: '_',
  good: '+',
  bad: 'x',
  caution: '!',
  pending: 'o',
  running: '*',
  skipped: '-',
};

/** The sixteen colours of the terminal, so that its own light or dark scheme decides; no background is painted. */
export const TONES: Record<Tone, { color?: string; bold?: boolean; dimColor?: boolean }> = {
  plain: {},
  strong: { bold: true },
  dim: { dimColor: true },
  accent: { color: 'cyan' },
  good: { color: 'green' },
  caution: { color: 'yellow' },
  bad: { color: 'red' },
};

export const ThemeContext = createContext<Theme>({ glyphs: UNICODE });

/** The theme of a terminal: ASCII where marks beyond it are not shown as they are. */
export function createTheme({ unicode }: { unicode: boolean }): Theme {
  return { glyphs: unicode ? UNICODE : ASCII };
}

export function useTheme(): Theme {
  return useContext(ThemeContext);
}
