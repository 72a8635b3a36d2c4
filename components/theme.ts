import { createContext, useContext } from 'react';
import { ASCII, type Glyphs, SPOKEN, type Tone, UNICODE } from '../src/presentation/shapes/glyphs.ts';
import type { Colors } from '../src/runtime/terminal.ts';

export interface Theme {
  glyphs: Glyphs;
  tones: Tones;
  /** The borders of panels. */
  border: TextStyle;
  surfaces: Record<SurfaceName, Surface>;
}

export interface TextStyle {
  color?: string;
  backgroundColor?: string;
  bold?: boolean;
  dimColor?: boolean;
  inverse?: boolean;
}

export type Tones = Record<Tone, TextStyle>;

/** Elements with a background: the selected row, the status bar, and the button with the focus. */
export type SurfaceName = 'selected' | 'bar' | 'button' | 'danger';

export interface Surface {
  /** The look of the whole surface; a tone adds to it. */
  base: TextStyle;
  tones: Tones;
}

type Palette = Omit<Theme, 'glyphs'>;

export interface ThemeOptions {
  unicode: boolean;
  light?: boolean;
  /** Without colours, tones differ by brightness, weight and glyphs. */
  colors?: Colors;
  screenReader?: boolean;
}

export function createTheme({ unicode, light = false, colors = 256, screenReader = false }: ThemeOptions): Theme {
  const glyphs = unicode ? UNICODE : ASCII;
  const { dark: onDark, light: onLight } = PALETTES[colors];
  return { glyphs: screenReader ? SPOKEN : glyphs, ...(light ? onLight : onDark) };
}

const WEIGHTS: Tones = {
  plain: {},
  strong: { bold: true },
  dim: { dimColor: true },
  accent: {},
  good: {},
  caution: {},
  bad: { bold: true },
};

/** On a background the tones that have one colour of text with it differ by weight and glyphs alone. */
const ON_COLOR: Tones = { ...WEIGHTS, dim: {} };

const DARK_256: Tones = {
  plain: {},
  strong: { bold: true },
  dim: { color: 'ansi256(246)' },
  accent: { color: 'ansi256(80)' },
  good: { color: 'ansi256(114)' },
  caution: { color: 'ansi256(221)' },
  bad: { color: 'ansi256(203)' },
};

const LIGHT_256: Tones = {
  plain: {},
  strong: { bold: true },
  dim: { color: 'ansi256(242)' },
  accent: { color: 'ansi256(25)' },
  good: { color: 'ansi256(28)' },
  caution: { color: 'ansi256(130)' },
  bad: { color: 'ansi256(160)' },
};

const DARK_16: Tones = {
  ...WEIGHTS,
  accent: { color: 'cyan' },
  good: { color: 'green' },
  caution: { color: 'yellow' },
  bad: { color: 'red' },
};

/** Cyan and yellow can hardly be read on white. */
const LIGHT_16: Tones = { ...DARK_16, accent: { color: 'blue' }, caution: { color: 'magenta' } };

/** Both colours of a surface are given: the background of the terminal may not be the expected one. */
const DARK_PALETTE_256: Palette = {
  tones: DARK_256,
  border: { color: 'ansi256(240)' },
  surfaces: {
    selected: onColor('ansi256(237)', 'ansi256(255)', { ...DARK_256, dim: { color: 'ansi256(250)' } }),
    bar: onColor('ansi256(235)', 'ansi256(252)', DARK_256),
    button: onColor('ansi256(80)', 'ansi256(16)'),
    danger: onColor('ansi256(160)', 'ansi256(231)'),
  },
};

const LIGHT_PALETTE_256: Palette = {
  tones: LIGHT_256,
  border: { color: 'ansi256(249)' },
  surfaces: {
    selected: onColor('ansi256(253)', 'ansi256(16)', { ...LIGHT_256, dim: { color: 'ansi256(239)' } }),
    bar: onColor('ansi256(255)', 'ansi256(236)', LIGHT_256),
    button: onColor('ansi256(25)', 'ansi256(231)'),
    danger: onColor('ansi256(160)', 'ansi256(231)'),
  },
};

const DARK_PALETTE_16: Palette = {
  tones: DARK_16,
  border: { dimColor: true },
  surfaces: {
    selected: onColor('cyan', 'black'),
    bar: onColor('blackBright', 'whiteBright'),
    button: onColor('cyan', 'black'),
    danger: onColor('red', 'whiteBright'),
  },
};

const LIGHT_PALETTE_16: Palette = {
  tones: LIGHT_16,
  border: { dimColor: true },
  surfaces: {
    selected: onColor('blue', 'whiteBright'),
    bar: onColor('white', 'black'),
    button: onColor('blue', 'whiteBright'),
    danger: onColor('red', 'whiteBright'),
  },
};

const REVERSED: Surface = { base: { inverse: true }, tones: ON_COLOR };

const COLORLESS: Palette = {
  tones: WEIGHTS,
  border: { dimColor: true },
  surfaces: { selected: REVERSED, bar: REVERSED, button: REVERSED, danger: REVERSED },
};

const PALETTES: Record<Colors, { dark: Palette; light: Palette }> = {
  256: { dark: DARK_PALETTE_256, light: LIGHT_PALETTE_256 },
  16: { dark: DARK_PALETTE_16, light: LIGHT_PALETTE_16 },
  0: { dark: COLORLESS, light: COLORLESS },
};

function onColor(backgroundColor: string, color: string, tones: Tones = ON_COLOR): Surface {
  return { base: { backgroundColor, color }, tones };
}

export const ThemeContext = createContext<Theme>(createTheme({ unicode: true }));

/** From COLORFGBG, which rxvt and some others set. */
export function isLight({ COLORFGBG }: NodeJS.ProcessEnv): boolean {
  return ['7', '15'].includes(COLORFGBG?.split(';').at(-1) ?? '');
}

export function useTheme(): Theme {
  return useContext(ThemeContext);
}
