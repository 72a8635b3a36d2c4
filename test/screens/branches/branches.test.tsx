import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { fakeBranch } from '../../helpers/fakes/fake-branches.ts';
import { fakePoints } from '../../helpers/fakes/fake-saves.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

const BASE = {
  ...{ database: 'app_dev.tool-base', snapshot: '3f2a9c01', loaded_at: '2026-11-20T05:00:00.000Z' },
  ...{ partial: false, size_bytes: 60_000_000, outdated: null },
};

function worldOf() {
  const branches = [fakeBranch('login'), fakeBranch('reports', { clients: 2 })];
  return fakeWorld({ targets: [fakeTarget({ name: 'app' })], base: BASE, branches });
}

async function opened(world = worldOf()): Promise<Model> {
  const model = await listed(world);
  press(model, 'B');
  await until(() => foundIn(model) !== null);
  return model;
}

const foundIn = (model: Model) => {
  const route = model.navigation.store.getState().stack.find(({ screen }) => screen === 'branches');
  return route?.screen === 'branches' ? route.found : null;
};

async function confirmed(model: Model): Promise<void> {
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'confirm' && route.plan !== null;
  });
  answerConfirm(model, 'go');
  await model.runs.settled();
}

test('B lists the branches of the target, with the selected one in full', async () => {
  const model = await opened();
  const shown = await screenText(model);
  expect(shown).toMatch(/app ❯ branches ─+ 2 branches/);
  expect(shown).toMatch(/login +app_dev_login/);
  expect(shown).toMatch(/reports .*in use \(2\)/);
  expect(shown).toContain('postgres://app@localhost:5432/app_dev_login');
});

test('n asks for a name, shows the plan, and the list has the new branch', async () => {
  const world = worldOf();
  const model = await opened(world);
  press(model, 'n', 'enter');
  expect(model.navigation.top().screen).toBe('branch-name');
  press(model, 'x', 'y', 'enter');
  await confirmed(model);
  expect(world.done).toEqual(['create branch xy']);
  await until(() => foundIn(model)?.length === 3);
});

test.each([
  { keys: ['tab'], done: 'create branch x from login' },
  { keys: ['tab', 'tab'], done: 'create branch x' },
])('$keys.length times tab in the name of a new branch: $done', async ({ keys, done }) => {
  const world = worldOf();
  const model = await opened(world);
  press(model, 'n', ...keys, 'x', 'enter');
  await confirmed(model);
  expect(world.done).toEqual([done]);
});

test.each([
  { key: 'R', done: 'reset branch login' },
  { key: 'd', done: 'drop branch login' },
  { key: 'W', done: 'switch to login' },
])('$key asks about the selected branch first', async ({ key, done }) => {
  const world = worldOf();
  const model = await opened(world);
  press(model, key);
  expect(world.done).toEqual([]);
  await confirmed(model);
  expect(world.done).toEqual([done]);
});

test('the branch that is the destination at present is neither dropped nor switched to', async () => {
  const world = worldOf();
  world.branches = [fakeBranch('login', { current: true })];
  const model = await opened(world);
  for (const key of ['d', 'W']) {
    press(model, key);
    expect(model.navigation.store.getState().notice?.text).toBe('The branch is the destination at present');
  }
});

test('s and U save the selected branch and return it to a point; the one that is the destination as that', async () => {
  const world = worldOf();
  world.points.push(...fakePoints());
  const model = await opened(world);
  press(model, 's', 'x', 'enter');
  await until(() => world.done.length === 1);
  await model.runs.settled();
  press(model, 'esc', 'U');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'points' && route.found !== null;
  });
  expect(await screenText(model)).toMatch(/app ❯ login ❯ back/);
  press(model, 'home', 'enter');
  await confirmed(model);
  expect(world.done).toEqual(['save login x', 'back login previous']);
  const current = await opened(
    fakeWorld({
      targets: [fakeTarget({ name: 'app' })],
      base: BASE,
      branches: [fakeBranch('login', { current: true })],
    }),
  );
  press(current, 's');
  expect(current.navigation.top()).toMatchObject({ screen: 'field', path: ['app', 'save'] });
});

test('U without a branch lists the points of the destination', async () => {
  const world = fakeWorld({ targets: [fakeTarget({ name: 'app' })], base: BASE, branches: [] });
  world.points.push(...fakePoints());
  const model = await opened(world);
  press(model, 'U');
  await until(() => model.navigation.top().screen === 'points');
  expect(model.navigation.top()).not.toHaveProperty('branch');
});
