import { expect, test } from 'vitest';
import type { Model } from '../../../../screens/app/model.ts';
import { fakeSnapshot, fakeTarget, fakeWorld } from '../../../helpers/fakes/fake-world.ts';
import { renderScreen } from '../../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../../helpers/terminal/driven-model.ts';

/** The screen after the keys, at 80×24. */
async function shownAfter(model: Model, ...keys: string[]): Promise<string[]> {
  press(model, ...keys);
  const rendered = renderScreen(model);
  const screen = await rendered.screen();
  rendered.unmount();
  return screen;
}

const namesIn = (screen: string[]): string[] => screen.flatMap((line) => /^│[ ❯] (target-\d+) /.exec(line)?.[1] ?? []);

test('a page key passes no row of a list that was not in view', async () => {
  const targets = Array.from({ length: 100 }, (_, index) => fakeTarget({ name: `target-${index}` }));
  const model = await listed(fakeWorld({ targets, checks: {} }));
  const seen = new Set(namesIn(await shownAfter(model)));
  for (let page = 0; page < 20; page += 1)
    for (const name of namesIn(await shownAfter(model, 'pagedown'))) seen.add(name);
  expect([...seen]).toEqual(targets.map(({ name }) => name));
});

test('the key bar shows only the keys of a filter that is typed, and later one label of Esc', async () => {
  const model = await listed(fakeWorld({ snapshots: { app: [fakeSnapshot(), fakeSnapshot({ index: 1 })] } }));
  press(model, 'enter');
  await until(() => model.navigation.top().screen === 'snapshots');
  const bar = (screen: string[]) => screen.at(-1)?.trim();
  expect(bar(await shownAfter(model, '/', '1'))).toBe('Enter keep filter   ↑↓ select   Esc clear filter');
  const kept = bar(await shownAfter(model, 'enter'));
  expect(kept).toContain('Esc clear filter');
  expect(kept?.match(/Esc/g)).toHaveLength(1);
});
