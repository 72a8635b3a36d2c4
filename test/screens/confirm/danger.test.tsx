import { afterEach, describe, expect, test } from 'vitest';
import { Choice } from '../../../components/choice.tsx';
import { createTheme, ThemeContext } from '../../../components/theme.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { suiteWithColors } from '../../helpers/terminal/colors.ts';
import { renderScreen } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';
import { type Rendered, renderAt } from '../../helpers/terminal/render.tsx';

suiteWithColors();

/** Red of the sixteen colours, and those of the 256 that the themes have. */
const REDS = [1, 9, 160, 203];

const open: Rendered[] = [];
afterEach(() => {
  for (const rendered of open.splice(0)) rendered.unmount();
});

describe.each([
  { colors: 256, light: false },
  { colors: 256, light: true },
  { colors: 16, light: false },
  { colors: 16, light: true },
] as const)('theme of $colors colours, light: $light', ({ colors, light }) => {
  const theme = createTheme({ unicode: true, colors, light });

  test('the plan of a load has the safe answer first and selected, the dangerous one in red', async () => {
    const model = await listed(fakeWorld());
    press(model, 'l');
    await until(() => {
      const route = model.navigation.top();
      return route.screen === 'confirm' && route.plan !== null;
    });
    const rendered = renderScreen(model, undefined, { unicode: true, colors, light });
    open.push(rendered);
    const lines = await rendered.screen();
    const safe = lines.findIndex((line) => /❯ Cancel/.test(line));
    expect(safe).toBeGreaterThan(0);
    const go = lines[safe + 1] ?? '';
    expect(go).toMatch(/Replace|Load/);
    const at = (line: string) => line.search(/[A-Z]/);
    const cancel = (await rendered.colors(safe))[at(lines[safe] ?? '')];
    expect(cancel?.background).not.toBe(-1);
    expect(REDS).not.toContain(cancel?.background);
    expect(REDS).toContain((await rendered.colors(safe + 1))[at(go)]?.text);
  });

  test('the dangerous answer is a red button when it is selected', async () => {
    const rendered = renderAt(
      { columns: 30, rows: 3 },
      <ThemeContext value={theme}>
        <Choice
          options={[
            { label: 'Cancel', value: 'leave' },
            { label: 'Replace', value: 'go', danger: true },
          ]}
          initial="go"
          onSelect={() => {}}
        />
      </ThemeContext>,
    );
    open.push(rendered);
    expect((await rendered.screen())[1]).toBe('  ❯ Replace');
    expect(REDS).toContain((await rendered.colors(1))[4]?.background);
  });
});
