import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { HistoryEntry } from '../../../src/results/history-results.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

const loaded: HistoryEntry = {
  ...{ at: '2026-01-31T14:00:00.000Z', operation: 'load', target: 'app', outcome: 'done', error: null },
  ...{ duration_ms: 1500, snapshot: '8c41f2ab', sanitized: true, from: null, to: 'postgres://localhost/app_dev' },
  ...{ branches: [], method: 'full', size_bytes: 1000, swap_ms: 46 },
};
const failed: HistoryEntry = { ...loaded, target: 'shop', outcome: 'failed', error: 'restore_failed', swap_ms: null };

test('h lists what earlier sessions did, with the selected entry in full after Enter', async () => {
  const targets = [fakeTarget({ name: 'app', snapshots: 1 })];
  const model = await listed(fakeWorld({ targets, history: [failed, loaded] }));
  await opened(model);
  const list = await screenText(model);
  expect(list).toMatch(/history.* 2 entries/);
  expect(list).toMatch(/failed +load +shop +8c41f2ab/);
  expect(list).toMatch(/done +load +app +8c41f2ab/);
  press(model, 'enter');
  expect(await screenText(model)).toMatch(/Outcome +failed: restore_failed/);
  press(model, 'down');
  const entry = await screenText(model, { columns: 60, rows: 24 });
  expect(entry).toMatch(/To +postgres:\/\/localhost\/app_dev/);
  expect(entry).toMatch(/Unavailable +46 ms/);
  press(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'history', opened: false });
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

test('from the snapshots of a target the history is that of the target', async () => {
  const model = await listed(fakeWorld({ history: [failed, loaded] }));
  press(model, 'enter');
  await opened(model);
  expect(model.navigation.top()).toMatchObject({ of: 'app', found: { entries: [loaded] } });
});

test('an empty history explains what it will contain', async () => {
  const model = await listed(fakeWorld({}));
  await opened(model);
  expect(await screenText(model)).toContain('The history is empty.');
  press(model, 'enter');
  expect(model.navigation.top()).toMatchObject({ opened: false });
});

async function opened(model: Model): Promise<void> {
  press(model, 'h');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'history' && route.found !== null;
  });
}
