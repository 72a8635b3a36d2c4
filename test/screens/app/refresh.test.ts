import { expect, test } from 'vitest';
import type { Operations } from '../../../screens/app/operations.ts';
import { cancelRefresh, refreshTargets, refreshTargetsAnew } from '../../../screens/app/refresh.ts';
import type { TargetRow } from '../../../src/results/results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { listed, newModel, press, until } from '../../helpers/driven-model.ts';
import { fakeOperations } from '../../helpers/fake-operations.ts';
import { fakePlannedWork } from '../../helpers/fake-planned-work.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fake-world.ts';

const targets = ['app', 'billing', 'legacy'].map((name) => fakeTarget({ name }));

function watched(checks = {}) {
  const world = fakeWorld({ targets, checks });
  const calls: { names: string[]; signal: AbortSignal }[] = [];
  const operations: Operations = {
    ...fakeOperations(world),
    refreshTargets: (session, { listed, take }) => {
      const noted = async (rows: TargetRow[]) => {
        const ordered = await listed(rows, null);
        calls.push({ names: ordered.map(({ name }) => name), signal: session.signal });
        return ordered;
      };
      return fakeOperations(world).refreshTargets(session, { listed: noted, take });
    },
  };
  return { calls, model: newModel(world, { operations }) };
}

test('a refresh during a running refresh joins it', async () => {
  const { model, calls } = watched();
  const first = refreshTargets(model);
  await until(() => calls.length === 1);
  expect(refreshTargets(model)).toBe(first);
  expect(calls).toHaveLength(1);
  cancelRefresh(model);
  await first;
});

test('a refresh is cancelled by its end and by a change of the configuration, and closes its connections', async () => {
  const { model, calls } = watched();
  void refreshTargets(model);
  await until(() => calls.length === 1);
  void refreshTargetsAnew(model);
  await until(() => calls.length === 2);
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  cancelRefresh(model);
  expect(calls[1]?.signal.aborted).toBe(true);
});

test('the targets in view are checked first', async () => {
  const { model, calls } = watched({ app: {}, billing: {}, legacy: {} });
  model.viewport.keys = ['legacy'];
  await refreshTargets(model);
  expect(calls[0]?.names).toEqual(['legacy', 'app', 'billing']);
});

test('a load that may replace a source that cannot be identified goes on only when the name is typed', async () => {
  const world = fakeWorld({ targets });
  const work = fakePlannedWork(world);
  let plans = 0;
  const plan: typeof work.load.plan = async (session, request) => {
    plans += 1;
    if (!request.unverifiedSources) throw new UserError('sources_unverified', 'may be a source');
    const planned = await work.load.plan(session, request);
    return { ...planned, plan: { ...planned.plan, unverified_sources: ['legacy'] } };
  };
  const operations = fakeOperations(world, { ...work, load: { ...work.load, plan } });
  const model = await listed(world, { operations });
  press(model, 'l');
  await until(() => {
    const place = model.navigation.top();
    return place.screen === 'confirm' && place.typing !== null;
  });
  press(model, 'enter');
  expect(model.navigation.top().screen).toBe('confirm');
  press(model, ...'app_dev', 'enter');
  expect(model.navigation.top().screen).toBe('run');
  expect(plans).toBe(1);
});
