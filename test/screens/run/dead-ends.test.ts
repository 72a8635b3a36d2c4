import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeOperations } from '../../helpers/fakes/fake-operations.ts';
import { fakePlannedWork } from '../../helpers/fakes/fake-planned-work.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press, running, until } from '../../helpers/terminal/driven-model.ts';

test('a plan that failed is made again with r', async () => {
  const world = fakeWorld();
  const work = fakePlannedWork(world);
  let isDown = true;
  const plan: typeof work.load.plan = async (...request) => {
    if (isDown) throw new UserError('unreachable', 'Cannot reach the server');
    return work.load.plan(...request);
  };
  const operations = fakeOperations(world, { ...work, load: { ...work.load, plan } });
  const model = await listed(world, { operations });
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  press(model, 'l');
  await until(() => confirmation(model).error !== null);
  isDown = false;
  press(model, 'r');
  await until(() => confirmation(model).plan !== null);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('snapshots');
});

test('a build that failed to be planned is planned again with r', async () => {
  const world = fakeWorld();
  const work = fakePlannedWork(world);
  let isDown = true;
  const plan: typeof work.build.plan = async (...request) => {
    if (isDown) throw new UserError('query_file_unreadable', 'The query cannot be read');
    return work.build.plan(...request);
  };
  const operations = fakeOperations(world, { ...work, build: { ...work.build, plan } });
  const model = await listed(world, { operations });
  press(model, 'b');
  await until(() => model.navigation.top().screen === 'confirm');
  isDown = false;
  press(model, 'r');
  await running(model);
  expect(model.navigation.top().screen).toBe('run');
});

test('one build may wait behind the running one; a third is refused with the reason', async () => {
  const model = await listed(fakeWorld({ gate: new Promise(() => {}) }));
  for (const count of [1, 2]) {
    press(model, 'b');
    await until(() => model.runs.store.getState().runs.length === count);
    press(model, 'esc');
  }
  press(model, 'b');
  expect(notice(model)).toMatch(/^Already queued: build /);
  expect(model.runs.store.getState().runs).toHaveLength(2);
});

test('a key without a command says so', async () => {
  const model = await listed(fakeWorld());
  press(model, 'Q');
  expect(notice(model)).toBe('Q has no command here. Press ? for the keys');
  press(model, 'j');
  expect(notice(model)).toBeUndefined();
});

function notice(model: Model): string | undefined {
  return model.navigation.store.getState().notice?.text;
}

function confirmation(model: Model) {
  const route = model.navigation.top();
  return route.screen === 'confirm' ? route : { plan: null, error: null };
}
