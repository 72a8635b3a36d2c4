import { expect, test } from 'vitest';
import { createTheme } from '../../../components/theme.ts';
import { createAppearance } from '../../../screens/app/appearance.ts';

const OPTIONS = { environment: {}, unicode: true, colors: 256, screenReader: false } as const;
const theme = (light: boolean, colors: 0 | 16 | 256 = 256) => createTheme({ unicode: true, light, colors });

test('auto follows the terminal, which knows better than COLORFGBG', () => {
  const appearance = createAppearance({ ...OPTIONS, environment: { COLORFGBG: '0;15' } });
  expect(appearance.theme.getState()).toEqual(theme(true));
  appearance.report('dark');
  expect(appearance.theme.getState()).toEqual(theme(false));
});

test('a chosen theme does not follow the terminal', () => {
  const appearance = createAppearance(OPTIONS);
  appearance.choose('light');
  appearance.report('light');
  expect(appearance.theme.getState()).toEqual(theme(true));
  appearance.choose('dark-16');
  expect(appearance.theme.getState()).toEqual(theme(false, 16));
  appearance.choose('mono');
  expect(appearance.theme.getState()).toEqual(theme(false, 0));
  appearance.choose('auto');
  expect(appearance.theme.getState()).toEqual(theme(true));
});

test('no theme has more colours than the terminal', () => {
  const sixteen = createAppearance({ ...OPTIONS, colors: 16 });
  sixteen.choose('dark');
  expect(sixteen.theme.getState()).toEqual(theme(false, 16));
  const none = createAppearance({ ...OPTIONS, colors: 0 });
  none.choose('light-16');
  expect(none.theme.getState()).toEqual(theme(false, 0));
});

test('an appearance in use is not drawn again', () => {
  const appearance = createAppearance(OPTIONS);
  let drawn = 0;
  appearance.theme.subscribe(() => drawn++);
  appearance.report('dark');
  appearance.choose('auto');
  expect(drawn).toBe(0);
});
