import { afterEach, expect, test } from 'vitest';
import { List } from '../../components/list.tsx';
import { createTheme, ThemeContext } from '../../components/theme.ts';
import { suiteWithColors } from '../helpers/terminal/colors.ts';
import { type Rendered, renderAt } from '../helpers/terminal/render.tsx';

suiteWithColors();

const open: Rendered[] = [];
afterEach(() => {
  for (const rendered of open.splice(0)) rendered.unmount();
});

test('themes have a background for the selected row, by reversal without colours; no other row has one', async () => {
  const row = (item: string) => [{ text: item }];
  for (const colors of [0, 16, 256] as const) {
    for (const light of [false, true]) {
      const rendered = renderAt(
        { columns: 20, rows: 3 },
        <ThemeContext value={createTheme({ unicode: true, colors, light })}>
          <List items={['one', 'two']} keyOf={(item) => item} row={row} selected={1} width={20} height={2} />
        </ThemeContext>,
      );
      open.push(rendered);
      const [one, two] = await rendered.backgrounds();
      expect(one).toBe('');
      expect(two).toBe((colors === 0 ? 'r' : 'b').repeat(20));
    }
  }
});
