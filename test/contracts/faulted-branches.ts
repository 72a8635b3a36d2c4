import { sweepBranches } from '../../src/engines/mysql/branches/sweep.ts';
import { parseMysqlUrl } from '../../src/engines/mysql/connection/url.ts';
import {
  applyBranchCreate,
  type BranchCreateRequest,
  planBranchCreate,
} from '../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../src/operations/branch/drop/drop.ts';
import { applyBranchReset, planBranchReset } from '../../src/operations/branch/reset/reset.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../src/operations/branch/switch/switch.ts';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { type FaultWorld, type Preparation, undoOf } from './faulted-operation.ts';

/** MySQL: databases of branches whose drop has begun. */
export const DROPPED = `SELECT TABLE_SCHEMA FROM information_schema.TABLES
  WHERE TABLE_NAME = 'tool-mark' AND TABLE_COMMENT LIKE '{"tool":"dropped"%'`;
const BRANCH = { target: 'app', name: 'one' };

/** Creation of a branch, of two, and of one with its base copy; reset, switch and drop. */
export async function faultedBranches(world: FaultWorld): Promise<Preparation[]> {
  const { server, settings, watch } = world;
  const context = () => testContext({ settings });
  const { id: snapshot } = await build(context(), { target: 'app' });
  const load = async (keepBase: boolean) => {
    const request = { target: 'app', cpus: world.cpus, snapshot, undo: false };
    await applyLoad(context(), await planLoad(context(), { ...request, ...(keepBase && { keepBase }) }));
  };
  const create = async (request: Partial<BranchCreateRequest> = {}) =>
    applyBranchCreate(context(), await planBranchCreate(context(), { ...BRANCH, ...request }));
  const reset = async () => applyBranchReset(context(), await planBranchReset(context(), BRANCH));
  const switchTo = async () => applyBranchSwitch(context(), await planBranchSwitch(context(), BRANCH));
  const drop = async () =>
    applyBranchDrop(context(), await planBranchDrop(context(), { target: 'app', names: ['one'] }));

  const present = async () => {
    // What an interrupted drop has left is no branch: the next command drops it.
    const dropped = server.kind === 'postgres' ? [] : await watch.column(DROPPED);
    return (await watch.databases()).filter((name) => /^copy(?:_[^.]*)?$/.test(name) && !dropped.includes(name));
  };
  /** Of the destination and its branches. */
  async function state(): Promise<string> {
    await watch.quiet();
    const facts: string[] = [];
    for (const name of await present()) facts.push(`database ${name}`, await watch.facts(name));
    return facts.join('\n');
  }
  async function dropAll(pattern: RegExp): Promise<void> {
    await watch.quiet();
    for (const name of await watch.databases()) if (pattern.test(name)) await server.drop(name);
  }
  /** The destination with a base copy, or without, and no branch. */
  async function begin(keepBase: boolean): Promise<void> {
    await dropAll(/^copy/);
    await load(keepBase);
  }
  const change = (database: string) =>
    server.run(database, ['CREATE TABLE mine (id integer)', 'DELETE FROM child WHERE id > 2']);
  const operation = (name: string, words: string[], run: () => Promise<unknown>) => ({
    ...{ name: `branch ${name}`, words: ['branch', ...words], run, state },
    ...{ undo: false, dumped: 'copy' },
  });

  await begin(true);
  const empty = await state();
  await create();
  const one = await state();
  await begin(true);
  await create({ count: 2 });
  const two = await state();
  const halves = ['one_1', 'one_2'].map((name) => withoutDatabase(two, `copy_${name}`));

  return [
    async (left) => {
      if (left === null) await begin(true);
      else if (left !== empty) await dropAll(/^copy_one$/);
      return { ...operation('create', ['create', 'app', 'one'], create), before: empty, wanted: one };
    },
    async (left) => {
      if (left === null) await begin(true);
      else if (left !== empty) await dropAll(/^copy_one_\d$/);
      const words = ['create', 'app', 'one', '--count', '2'];
      const run = operation('create of two', words, () => create({ count: 2 }));
      return { ...run, before: empty, wanted: two, isBetween: (now) => halves.includes(now) };
    },
    async () => {
      await begin(false);
      const run = operation('create with its base copy', ['create', 'app', 'one'], create);
      return { ...run, before: empty, wanted: one };
    },
    async (left) => {
      if (left === null) {
        await begin(true);
        await create();
      }
      if (left === null || left === one) await change('copy_one');
      return { ...operation('reset', ['reset', 'app', 'one'], reset), before: await state(), wanted: one };
    },
    async (left) => {
      if (left === null) {
        await begin(true);
        await create();
        await change('copy_one');
      } else if (!(await present()).includes('copy_one')) {
        await undoOf(world)();
      }
      const switched = `database copy\n${await watch.facts('copy_one')}`;
      const wanted = server.kind === 'postgres' ? switched : switched.replaceAll('copy_one', 'copy');
      const run = operation('switch', ['switch', 'app', 'one'], switchTo);
      const before = await state();
      const known = [before, wanted].map((text) => withoutDatabase(text, 'copy_one'));
      const isNeeded = (now: string) =>
        server.kind !== 'postgres' &&
        ![before, wanted].includes(now) &&
        known.includes(withoutDatabase(now, 'copy_one'));
      const complete = { isNeeded, run: () => sweepBranches(context(), parseMysqlUrl(server.url('copy'))) };
      return { ...run, before, wanted, undo: true, complete };
    },
    async (left) => {
      if (left === null) await begin(true);
      if (left === null || left === empty) await create();
      return { ...operation('drop', ['drop', 'app', 'one'], drop), before: one, wanted: empty };
    },
  ];
}

function withoutDatabase(state: string, name: string): string {
  const parts = state.split(/^(?=database )/m).filter((part) => part.split('\n', 1)[0] !== `database ${name}`);
  return parts.join('').replace(/\n$/, '');
}
