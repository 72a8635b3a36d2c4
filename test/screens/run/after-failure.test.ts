import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import type { BuildAndSanitizeRequest } from '../../../src/operations/build/planned-build.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeOperations } from '../../helpers/fakes/fake-operations.ts';
import { fakePlannedWork } from '../../helpers/fakes/fake-planned-work.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

test('a build that lacks schemas can be done again with them', async () => {
  const world = fakeWorld({});
  const asked: BuildAndSanitizeRequest[] = [];
  const work = fakePlannedWork(world);
  const apply: typeof work.build.apply = async (session, planned) => {
    asked.push(planned.request);
    if (planned.request.includeNeededSchemas) return work.build.apply(session, planned);
    throw new UserError('schema_needed', 'kinds is needed');
  };
  const operations = fakeOperations(world, { ...work, build: { ...work.build, apply } });
  const model = await listed(world, { operations });
  press(model, 'b');
  await ended(model, 1);
  press(model, 'a');
  await ended(model, 2);
  expect(asked.map(({ target, includeNeededSchemas }) => [target, includeNeededSchemas])).toEqual([
    ['app', undefined],
    ['app', true],
  ]);
  expect(statuses(model)).toEqual(['failed', 'done']);
  press(model, 'a');
  expect(statuses(model)).toHaveLength(2);
});

test('a load that failed can restore the rest, and replace the destination by it, each after a question', async () => {
  const world = fakeWorld({});
  const asked: LoadRequest[] = [];
  const work = fakePlannedWork(world);
  const plan: typeof work.load.plan = (session, request) => {
    asked.push(request);
    return work.load.plan(session, request);
  };
  const operations = fakeOperations(world, { ...work, load: { ...work.load, plan } });
  const model = await listed(world, { operations });
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  world.failLoad = new UserError('restore_failed', 'refused');
  press(model, 'l');
  await answered(model);
  await ended(model, 1);
  world.failLoad = new UserError('restore_incomplete', 'not all');
  press(model, 'a');
  await answered(model);
  await ended(model, 2);
  world.failLoad = null;
  press(model, 'a');
  await answered(model);
  await ended(model, 3);
  expect(asked.map(({ keepGoing }) => keepGoing)).toEqual([undefined, 'inspect', 'swap']);
  expect(new Set(asked.map(({ snapshot }) => snapshot)).size).toBe(1);
  expect(statuses(model)).toEqual(['failed', 'failed', 'done']);
});

function statuses(model: Model): string[] {
  return model.runs.store.getState().runs.map(({ state }) => state.status);
}

async function ended(model: Model, runs: number): Promise<void> {
  await until(() => statuses(model).length === runs);
  await model.runs.settled();
}

/** Nothing is loaded without an answer. */
async function answered(model: Model): Promise<void> {
  const before = statuses(model).length;
  await until(() => {
    const place = model.navigation.top();
    return place.screen === 'confirm' && place.plan !== null;
  });
  expect(statuses(model)).toHaveLength(before);
  answerConfirm(model, 'go');
}
