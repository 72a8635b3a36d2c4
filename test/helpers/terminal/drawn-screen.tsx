import type { ReactNode } from 'react';
import { ViewportContext } from '../../../components/list.tsx';
import { createTheme, ThemeContext, type ThemeOptions } from '../../../components/theme.ts';
import { ModelContext } from '../../../screens/app/frame/frame.tsx';
import type { Model } from '../../../screens/app/model.ts';
import type { Route } from '../../../screens/app/route.ts';
import { insidePanel, type Rendered, renderAt } from './render.tsx';

export interface Size {
  columns: number;
  rows: number;
}

const STANDARD: Size = { columns: 80, rows: 24 };

/** The screen that a model shows, until it is unmounted. */
export function renderScreen(model: Model, size: Size = STANDARD, theme: ThemeOptions = { unicode: true }): Rendered {
  const route = model.navigation.top();
  const View = model.screens[route.screen].view as (props: { route: Route }) => ReactNode;
  return renderAt(
    size,
    <ThemeContext value={createTheme(theme)}>
      <ModelContext value={model}>
        <ViewportContext value={model.viewport}>
          <View route={route} />
        </ViewportContext>
      </ModelContext>
    </ThemeContext>,
  );
}

/** Its lines, without the sides of its panel. */
export async function screenLines(model: Model, size?: Size, theme?: ThemeOptions): Promise<string[]> {
  const rendered = renderScreen(model, size, theme);
  const lines = insidePanel(await rendered.screen());
  rendered.unmount();
  return lines;
}

export async function screenText(model: Model, size?: Size): Promise<string> {
  return (await screenLines(model, size)).join('\n');
}
