import { Text, useAnimation, useApp, useInput, usePaste, useWindowSize } from 'ink';
import { useEffect } from 'react';
import { type StoreApi, useStore } from 'zustand';
import { ViewportContext } from '../../components/list.tsx';
import type { Size } from '../../components/page.tsx';
import { type Theme, ThemeContext } from '../../components/theme.ts';
import { topOf } from '../../src/state/navigation.ts';
import { dispatchKey, dispatchPaste, dispatchText } from './dispatch.ts';
import { ModelContext } from './frame/frame.tsx';
import { type Model, screenOf } from './model.ts';
import { keyPresses } from './terminal/key-press.ts';
import { tooSmallText } from './text.ts';

export interface AppProps {
  model: Model;
  theme: StoreApi<Theme>;
  /** Hands the terminal back to the shell; resolves when the program continues. */
  suspend: () => Promise<void>;
  bindHandOver: (suspendTerminal: (work: () => Promise<void>) => Promise<void>) => void;
}

/** The screen of the present route, and its keys. */
export function App({ model, theme: themes, suspend, bindHandOver }: AppProps) {
  const theme = useStore(themes);
  const { suspendTerminal } = useApp();
  useEffect(() => bindHandOver(suspendTerminal), [bindHandOver, suspendTerminal]);
  const route = useStore(model.navigation.store, topOf);
  // Ages, while nothing else happens.
  useAnimation({ interval: MINUTE_MS });
  const { view: View } = screenOf(model, route);
  const size = useWindowSize();
  const tooSmall = size.columns < SMALLEST.columns || size.rows < SMALLEST.rows;
  useInput((input, key) => {
    const presses = keyPresses(input, key);
    if (presses.length > 1 && !tooSmall && dispatchText(model, input)) return;
    for (const press of presses) {
      if (press === 'ctrl+z') void suspendTerminal(suspend);
      // Keys have no meaning while nothing is drawn.
      else if (!tooSmall || press === 'ctrl+c') dispatchKey(model, press);
    }
  });
  usePaste((text) => dispatchPaste(model, text));
  if (tooSmall) return <Text>{tooSmallText(size, SMALLEST)}</Text>;
  return (
    <ThemeContext value={theme}>
      <ModelContext value={model}>
        <ViewportContext value={model.viewport}>
          <View route={route} />
        </ViewportContext>
      </ModelContext>
    </ThemeContext>
  );
}

const MINUTE_MS = 60_000;

const SMALLEST: Size = { columns: 40, rows: 10 };
