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
  /** The theme of this session, before that of the configuration. */
  prefer(name: InEffect['theme']): void;
  /** Takes the background that the terminal reports. */
  report(background: Background): void;
}

/** The theme in use: of the configuration, else of the background, as the terminal or COLORFGBG reports it. */
export function createAppearance({ environment, unicode, colors, screenReader }: AppearanceOptions): Appearance {
  let configured: InEffect['theme'] = 'auto';
  let preferred: InEffect['theme'] | null = null;
  let background: Background = isLight(environment) ? 'light' : 'dark';
  const current = (): Theme => {
    const chosen = preferred ?? configured;
    const [name, depth] = chosen === 'auto' ? [background] : chosen.split('-');
    const most: Colors = name === 'mono' ? 0 : depth === '16' ? 16 : 256;
    return createTheme({ unicode, screenReader, light: name === 'light', colors: Math.min(most, colors) as Colors });
  };
  const theme = createStore<Theme>(current);
  const draw = (): void => theme.setState(current(), true);
  return {
    theme,
    choose(name) {
      if (name === configured) return;
      configured = name;
      draw();
    },
    prefer(name) {
      preferred = name;
      draw();
    },
    report(reported) {
      if (reported === background) return;
      background = reported;
      if ((preferred ?? configured) === 'auto') draw();
    },
  };
}
