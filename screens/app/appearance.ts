import { createStore, type StoreApi } from 'zustand/vanilla';
import { createTheme, isLight, type Theme } from '../../components/theme.ts';
import type { InEffect } from '../../src/config/keys/in-effect.ts';
import type { Colors } from '../../src/runtime/terminal.ts';
import type { Background } from './terminal/background.ts';

export interface AppearanceOptions {
  environment: NodeJS.ProcessEnv;
  unicode: boolean;
  colors: Colors;
  screenReader: boolean;
}

export interface Appearance {
  theme: StoreApi<Theme>;
  /** The theme of the configuration. */
  choose(name: InEffect['theme']): void;
  /** Takes the background that the terminal reports. */
  report(background: Background): void;
}

/** The theme in use: of the configuration, else of the background, as the terminal or COLORFGBG reports it. */
export function createAppearance({ environment, unicode, colors, screenReader }: AppearanceOptions): Appearance {
  let chosen: InEffect['theme'] = 'auto';
  let background: Background = isLight(environment) ? 'light' : 'dark';
  const current = (): Theme => {
    const [name, depth] = chosen === 'auto' ? [background] : chosen.split('-');
    const most: Colors = name === 'mono' ? 0 : depth === '16' ? 16 : 256;
    return createTheme({ unicode, screenReader, light: name === 'light', colors: Math.min(most, colors) as Colors });
  };
  const theme = createStore<Theme>(current);
  return {
    theme,
    choose(name) {
      if (name === chosen) return;
      chosen = name;
      theme.setState(current(), true);
    },
    report(reported) {
      if (reported === background) return;
      background = reported;
      if (chosen === 'auto') theme.setState(current(), true);
    },
  };
}
