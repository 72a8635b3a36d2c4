import { expect } from 'vitest';
import { build } from '../../src/operations/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../src/operations/load/reset.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { applyRemove, planRemove } from '../../src/operations/snapshots/remove.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { applySubset, planSubset } from '../../src/operations/subset/subset.ts';
import { testContext } from '../helpers/postgres-server.ts';
import { CHANGE, type FaultWorld, type Preparation, stateOf, undoOf } from './faulted-operation.ts';

const FLAGS = { keepBase: '--keep-base', inPlace: '--in-place' };

/** Load, load with base copy, undo, reset, sanitize, subset and, on PostgreSQL, load in place; elsewhere one more load. */
export async function faultedLoads(world: FaultWorld): Promise<Preparation[]> {
  const { server, settings } = world;
  const context = () => testContext({ settings });
  const load = async (request: Omit<LoadRequest, 'target' | 'cpus'>) =>
    applyLoad(context(), await planLoad(context(), { target: 'app', cpus: 2, ...request }));
  const undo = undoOf(world);
  const reset = async () => applyReset(context(), await planReset(context(), { target: 'app' }));
  const sanitize = async () => applySanitize(context(), await planSanitize(context(), { target: 'built', cpus: 2 }));
  const subset = async () => applySubset(context(), await planSubset(context(), { target: 'some', cpus: 2 }));
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
  async function loading(request: { keepBase?: true; inPlace?: true } = {}) {
    const to = (await state('copy')) === older.state ? newer : older;
    const flags = Object.keys(request) as (keyof typeof FLAGS)[];
    return {
      name: ['load', ...flags].join(' '),
      run: () => load({ snapshot: to.snapshot, ...request }),
      words: ['load', 'app', to.snapshot, ...flags.map((flag) => FLAGS[flag])],
      state: () => state('copy'),
      wanted: to.state,
      undo: !request.inPlace,
      dumped: 'copy',
    };
  }

  return [
    () => loading(),
    () => loading({ keepBase: true }),
    async (isFirst) => {
      if (isFirst) for (const { snapshot } of [older, newer]) await load({ snapshot });
      // What an undo has replaced is what the next one puts back.
      const wanted = (await state('copy')) === older.state ? newer.state : older.state;
      return {
        ...{ name: 'undo', run: undo, words: ['undo', 'app'], state: () => state('copy') },
        ...{ wanted, undo: true, dumped: 'copy' },
      };
    },
    async (isFirst) => {
      if (isFirst) await load({ snapshot: newer.snapshot, keepBase: true });
      if ((await state('copy')) === newer.state) {
        await server.run('copy', ['CREATE TABLE mine (id integer)', 'DELETE FROM child WHERE id > 2']);
      }
      return {
        ...{ name: 'reset', run: reset, words: ['reset', 'app'], state: () => state('copy') },
        ...{ wanted: newer.state, undo: false, dumped: 'copy' },
      };
    },
    async () => {
      const { snapshots } = await listSnapshots(context(), 'built');
      // They would become thousands; the last is the original one.
      for (const { id } of snapshots.slice(0, -1)) {
        await applyRemove(context(), await planRemove(context(), { target: 'built', snapshot: id }));
      }
      return {
        ...{ name: 'sanitize', run: sanitize, words: ['sanitize', 'built'], state: () => state('clean') },
        ...{ wanted: null, undo: false, dumped: 'clean' },
      };
    },
    async () => {
      if ((await state('small')) === small) await server.run('small', ['CREATE TABLE mine (id integer)']);
      return {
        ...{ name: 'subset', run: subset, words: ['subset', 'some'], state: () => state('small') },
        ...{ wanted: small, undo: false, dumped: 'small' },
      };
    },
    () => loading(server.kind === 'postgres' ? { inPlace: true } : {}),
  ];
}
