import { expect, test } from 'vitest';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

test('look', async () => {
  const model = await listed(fakeWorld());
  press(model, 'D');
  await until(() => (model.navigation.top() as any).found != null);
  for (const size of [{ columns: 80, rows: 24 }, { columns: 40, rows: 12 }, { columns: 200, rows: 30 }]) console.log(await screenText(model, size));
  press(model, 'j', 'enter');
  await until(() => (model.navigation.top() as any).found != null && model.navigation.top().screen === 'table-diff');
  for (const size of [{ columns: 80, rows: 24 }, { columns: 40, rows: 12 }, { columns: 200, rows: 30 }]) console.log(await screenText(model, size));
  expect(1).toBe(1);
  const slow = await listed(fakeWorld({ gate: new Promise(() => {}) }));
  press(slow, 'D');
  await until(() => (slow.navigation.top() as any).state.steps.length > 0);
  console.log(await screenText(slow));
});
