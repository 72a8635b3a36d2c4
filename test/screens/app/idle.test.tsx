import { afterEach, expect, test, vi } from 'vitest';
import { createStore } from 'zustand/vanilla';
import { createTheme } from '../../../components/theme.ts';
import { App } from '../../../screens/app/app.tsx';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press } from '../../helpers/terminal/driven-model.ts';
import { renderAt } from '../../helpers/terminal/render.tsx';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
  vi.useRealTimers();
});

test.each([
  ['the targets', []],
  ['the snapshots of a target', ['enter']],
])('ages of %s are drawn anew while nothing is pressed and nothing is read', async (_, keys) => {
  let now = Date.parse('2026-11-21T05:00:00Z');
  const model = await listed(fakeWorld(), { clock: () => new Date(now) });
  // Checks of the targets in view would draw them, too.
  model.operations.checkTargets = () => new Promise(() => {});
  press(model, ...keys);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true });
  const theme = createStore(() => createTheme({ unicode: true }));
  const size = { columns: 120, rows: 30 };
  const rendered = renderAt(size, <App model={model} theme={theme} suspend={async () => {}} bindHandOver={() => {}} />);
  ends.push(rendered.unmount);
  const text = async () => (await rendered.screen()).join('\n');
  // What is read after the first frame.
  await vi.advanceTimersByTimeAsync(30_000);
  await expect.poll(text, { timeout: 20_000 }).toContain('1 h ago');
  now += 2 * 60 * 60_000;
  await vi.advanceTimersByTimeAsync(60_000);
  await expect.poll(text, { timeout: 20_000 }).toContain('3 h ago');
  expect(await text()).not.toContain('1 h ago');
});
