import { expect } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { applyRemove, planRemove } from '../../src/operations/remove/remove.ts';
import { applyReset, planReset } from '../../src/operations/reset/reset.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { applySubset, planSubset } from '../../src/operations/subset/subset.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { CHANGE, type FaultWorld, type Preparation, stateOf, undoOf } from './faulted-operation.ts';

const FLAGS = { keepBase: '--keep-base', inPlace: '--in-place' };

/** Load, load with base copy, undo, reset, sanitize, subset and, on PostgreSQL, load in place; elsewhere one more load. */
export async function faultedLoads(world: FaultWorld): Promise<Preparation[]> {
  const { server, settings } = world;
  const context = () => testContext({ settings });
  const load = async (request: Omit<LoadRequest, 'target' | 'cpus'>) =>
    applyLoad(context(), await planLoad(context(), { target: 'app', cpus: world.cpus, ...request }));
  const undo = undoOf(world);
  const reset = async () => applyReset(context(), await planReset(context(), { target: 'app' }));
  const sanitize = async () =>
    applySanitize(context(), await planSanitize(context(), { target: 'built', cpus: world.cpus }));
  const subset = async () => applySubset(context(), await planSubset(context(), { target: 'some', cpus: world.cpus }));
  const state = (database: string) => stateOf(world, database);

  const older = { snapshot: (await build(context(), { target: 'app' })).id, state: '' };
  await build(context(), { target: 'built' });
  await server.run('source', CHANGE);
  const newer = { snapshot: (await build(context(), { target: 'app' })).id, state: '' };
  for (const one of [older, newer]) {
    await load({ snapshot: one.snapshot });
    one.state = await state('copy');
  }
  await subset();
  const small = await state('small');
  expect(new Set([older.state, newer.state, small]).size).toBe(3);
  async function loading(left: string | null, request: { keepBase?: true; inPlace?: true } = {}) {
    const before = left ?? (await state('copy'));
    const to = before === older.state ? newer : older;
    const flags = Object.keys(request) as (keyof typeof FLAGS)[];
    return {
      name: ['load', ...flags].join(' '),
      run: () => load({ snapshot: to.snapshot, ...request }),
      words: ['load', 'app', to.snapshot, ...flags.map((flag) => FLAGS[flag])],
      state: () => state('copy'),
      before,
      wanted: to.state,
      undo: !request.inPlace,
      dumped: 'copy',
    };
  }

  return [
    (left) => loading(left),
    (left) => loading(left, { keepBase: true }),
    async (left) => {
      if (left === null) for (const { snapshot } of [older, newer]) await load({ snapshot });
      const before = left ?? (await state('copy'));
      return {
        ...{ name: 'undo', run: undo, words: ['undo', 'app'], state: () => state('copy') },
        // What an undo has replaced is what the next one puts back.
        ...{ before, wanted: before === older.state ? newer.state : older.state, undo: true, dumped: 'copy' },
      };
    },
    async (left) => {
      if (left === null) await load({ snapshot: newer.snapshot, keepBase: true });
      if (left === null || left === newer.state) {
        await server.run('copy', ['CREATE TABLE mine (id integer)', 'DELETE FROM child WHERE id > 2']);
      }
      return {
        ...{ name: 'reset', run: reset, words: ['reset', 'app'], state: () => state('copy') },
        ...{ before: await state('copy'), wanted: newer.state, undo: false, dumped: 'copy' },
      };
    },
    async (left) => {
      // They would become thousands; the last is the original one.
      const { snapshots } = left === null ? await listSnapshots(context(), 'built') : { snapshots: [] };
      for (const { id } of snapshots.slice(0, -1)) {
        await applyRemove(context(), await planRemove(context(), { target: 'built', snapshot: id }));
      }
      return {
        ...{ name: 'sanitize', run: sanitize, words: ['sanitize', 'built'], state: () => state('clean') },
        ...{ before: '', wanted: null, undo: false, dumped: 'clean' },
      };
    },
    async (left) => {
      if ((left ?? (await state('small'))) === small) {
        await server.run('small', ['CREATE TABLE mine (id integer)']);
      }
      return {
        ...{ name: 'subset', run: subset, words: ['subset', 'some'], state: () => state('small') },
        ...{ before: await state('small'), wanted: small, undo: false, dumped: 'small' },
      };
    },
    (left) => loading(left, server.kind === 'postgres' ? { inPlace: true } : {}),
  ];
}
