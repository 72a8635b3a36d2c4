import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/actions.ts';
import type { BuildRequest } from '../../../src/operations/build.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { listed, press, until } from '../../helpers/driven-model.ts';
import { fakeOperations } from '../../helpers/fake-operations.ts';
import { fakeWorld } from '../../helpers/fake-world.ts';

test('a build that lacks schemas can be done again with them', async () => {
  const world = fakeWorld({});
  const asked: BuildRequest[] = [];
  const operations = fakeOperations(world);
  const model = await listed(world, {
    operations: {
      ...operations,
      build: (session, request) => {
        asked.push(request);
        if (request.includeNeededSchemas) return operations.build(session, request);
        throw new UserError('kinds is needed', { code: 'schema_needed', exit: 1 });
      },
    },
  });
  press(model, 'b');
  await ended(model, 1);
  press(model, 'a');
  await ended(model, 2);
  expect(asked).toEqual([{ target: 'app' }, { target: 'app', includeNeededSchemas: true }]);
  expect(statuses(model)).toEqual(['failed', 'done']);
  press(model, 'a');
  expect(statuses(model)).toHaveLength(2);
});

test('a load that failed can restore the rest, and replace the destination by it, each after a question', async () => {
  const world = fakeWorld({});
  const asked: LoadRequest[] = [];
  const operations = fakeOperations(world);
  const model = await listed(world, {
    operations: {
      ...operations,
      planLoad: (session, request) => {
        asked.push(request);
        return operations.planLoad(session, request);
      },
    },
  });
  press(model, 'enter');
  await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
  world.failLoad = new UserError('refused', { code: 'restore_failed', exit: 1 });
  press(model, 'l');
  await answered(model);
  await ended(model, 1);
  world.failLoad = new UserError('not all', { code: 'restore_incomplete', exit: 1 });
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
