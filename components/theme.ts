import { createContext, useContext } from 'react';

/** The meaning of a text; the theme defines its look. */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'caution' | 'bad';

export interface Theme {
  glyphs: Glyphs;
  tones: Record<Tone, Look>;
}

export interface Look {
  color?: string;
  bold?: boolean;
  dimColor?: boolean;
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
  good: string;
  bad: string;
  caution: string;
  pending: string;
  running: string;
  marked: string;
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
  marked: '●',
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
  marked: '*',
  skipped: '-',
};

/** For screen readers: words for states, nothing for decoration. */
const SPOKEN: Glyphs = {
  pointer: '>',
  ellipsis: '...',
  rule: '',
  dot: ',',
  arrow: 'to',
  none: 'none',
  barFull: '',
  barEmpty: '',
  caret: '',
  good: 'good:',
  bad: 'bad:',
  caution: 'caution:',
  pending: 'waiting:',
  running: 'running:',
  marked: 'marked:',
  skipped: 'skipped:',
};

const ON_DARK: Record<Tone, Look> = {
  plain: {},
  strong: { bold: true },
  dim: { dimColor: true },
  accent: { color: 'cyan' },
  good: { color: 'green' },
  caution: { color: 'yellow' },
  bad: { color: 'red' },
};

/** Cyan and yellow can hardly be read on white. */
const ON_LIGHT: Record<Tone, Look> = { ...ON_DARK, accent: { color: 'blue' }, caution: { color: 'magenta' } };

export const ThemeContext = createContext<Theme>({ glyphs: UNICODE, tones: ON_DARK });

export interface ThemeOptions {
  unicode: boolean;
  light?: boolean;
  screenReader?: boolean;
}

export function createTheme({ unicode, light = false, screenReader = false }: ThemeOptions): Theme {
  const glyphs = unicode ? UNICODE : ASCII;
  return { glyphs: screenReader ? SPOKEN : glyphs, tones: light ? ON_LIGHT : ON_DARK };
}

/** From COLORFGBG, which rxvt and some others set. */
export function isLight({ COLORFGBG }: NodeJS.ProcessEnv): boolean {
  return ['7', '15'].includes(COLORFGBG?.split(';').at(-1) ?? '');
}

export function useTheme(): Theme {
  return useContext(ThemeContext);
}
