import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { fakePoints } from '../../helpers/fakes/fake-saves.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

const worldOf = () => fakeWorld({ targets: [fakeTarget({ name: 'app' })], points: fakePoints() });

async function opened(world = worldOf()): Promise<Model> {
  const model = await listed(world);
  press(model, 'U');
  await until(() => found(model) !== null);
  return model;
}

const found = (model: Model) => {
  const route = model.navigation.store.getState().stack.find(({ screen }) => screen === 'points');
  return route?.screen === 'points' ? route.found : null;
};

const isConfirming = (model: Model) => () => {
  const route = model.navigation.top();
  return route.screen === 'confirm' && route.plan !== null;
};

test('U lists the points, the newest selected and explained; Enter asks before the return', async () => {
  const world = worldOf();
  const model = await opened(world);
  const shown = await screenText(model);
  expect(shown).toMatch(/app ❯ back ─+ 3 of 4 points/);
  expect(shown).toMatch(/❯ before-migration +0 +5 min/);
  expect(shown).toMatch(/load .*unavailable/);
  expect(shown).toMatch(/Method +restore it into a shadow database, then swap/);
  expect(shown).toMatch(/Replaces +postgres:\/\/app@localhost:5432\/app_dev/);
  expect(await screenText(model, { columns: 160, rows: 40 })).toMatch(/Note +with +\[2J 漢字/);
  press(model, 'up', 'enter');
  expect(model.navigation.store.getState().notice?.text).toContain('No load into');
  press(model, 'up', 'enter');
  await until(isConfirming(model));
  expect(world.done).toEqual([]);
  answerConfirm(model, 'go');
  await model.runs.settled();
  expect(world.done).toEqual(['back app previous']);
});

test.each(['targets', 'points'])('s on the list of %s saves the destination under the typed name', async (screen) => {
  const world = worldOf();
  const model = screen === 'points' ? await opened(world) : await listed(world);
  press(model, 's', 'x', 'y', 'enter');
  await until(() => model.navigation.top().screen === 'run');
  await model.runs.settled();
  expect(world.done).toEqual(['save app xy']);
  press(model, 'esc');
  if (screen === 'points') await until(() => found(model)?.points.length === 5);
  press(model, 's', 'x', 'y', 'enter');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'confirm' && route.error !== null;
  });
  expect(await screenText(model)).toContain('has a save "xy" already');
  press(model, 'esc', 's', 'enter');
  await until(() => world.done.length === 2);
  expect(world.done).toEqual(['save app xy', 'save app 2026-11-21T03:00:00.000Z']);
});

test('neither is available without a destination or with --read-only', async () => {
  const without = await listed(fakeWorld({ targets: [fakeTarget({ name: 'app', dst_url: null })] }));
  const readOnly = await listed(worldOf(), { readOnly: true });
  press(without, 'U');
  expect(without.navigation.store.getState().notice?.text).toContain('has no destination');
  press(readOnly, 's');
  expect(readOnly.navigation.store.getState().notice?.text).toContain('--read-only');
  press(readOnly, 'U');
  await until(() => found(readOnly) !== null);
  press(readOnly, 'enter');
  expect(readOnly.navigation.store.getState().notice?.text).toContain('--read-only');
});
