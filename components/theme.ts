import { createContext, useContext } from 'react';
import { ASCII, type Glyphs, SPOKEN, type Tone, UNICODE } from '../src/presentation/shapes/glyphs.ts';

export interface Theme {
  glyphs: Glyphs;
  tones: Record<Tone, Look>;
}

export interface Look {
  color?: string;
  bold?: boolean;
  dimColor?: boolean;
}

/** The sixteen colours of the terminal; no background is painted. */
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

const COLORLESS: Record<Tone, Look> = { ...ON_DARK, accent: {}, good: {}, caution: {}, bad: { bold: true } };

export const ThemeContext = createContext<Theme>({ glyphs: UNICODE, tones: ON_DARK });

export interface ThemeOptions {
  unicode: boolean;
  light?: boolean;
  /** Without colours, tones differ by brightness, weight and glyphs. */
  color?: boolean;
  screenReader?: boolean;
}

export function createTheme({ unicode, light = false, color = true, screenReader = false }: ThemeOptions): Theme {
  const glyphs = unicode ? UNICODE : ASCII;
  return { glyphs: screenReader ? SPOKEN : glyphs, tones: color ? (light ? ON_LIGHT : ON_DARK) : COLORLESS };
}

/** From COLORFGBG, which rxvt and some others set. */
export function isLight({ COLORFGBG }: NodeJS.ProcessEnv): boolean {
  return ['7', '15'].includes(COLORFGBG?.split(';').at(-1) ?? '');
}

export function useTheme(): Theme {
  return useContext(ThemeContext);
}
