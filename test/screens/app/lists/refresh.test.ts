import { expect, test } from 'vitest';
import { cancelRefresh, refreshTargets, refreshTargetsAnew } from '../../../../screens/app/lists/refresh.ts';
import type { Operations } from '../../../../screens/app/operations.ts';
import type { TargetRow } from '../../../../src/results/results.ts';
import { fakeOperations } from '../../../helpers/fakes/fake-operations.ts';
import { fakeTarget, fakeWorld } from '../../../helpers/fakes/fake-world.ts';
import { newModel, until } from '../../../helpers/terminal/driven-model.ts';

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
