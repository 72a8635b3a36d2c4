import { expect } from 'vitest';
import { applyBranchCreate, planBranchCreate } from '../../src/operations/branch/create/create.ts';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../src/operations/reset/reset.ts';
import type { LoadPlan, LoadResult } from '../../src/results/load-results.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { type FaultWorld, type FollowUp, type Preparation, stateOf, undoOf } from './faulted-operation.ts';

/** Large enough to be loaded by rows, the second one after the first, to which it refers. */
const BY_ROWS = ['public.item', 'public.part'];
const FILL = [
  'CREATE TABLE item (id integer PRIMARY KEY, code text NOT NULL UNIQUE, body text)',
  "INSERT INTO item SELECT i, 'code ' || i, repeat(md5(i::text), 20) FROM generate_series(1, 500) i",
  'CREATE TABLE part (id integer PRIMARY KEY, item integer NOT NULL REFERENCES item ON DELETE CASCADE, body text)',
  'INSERT INTO part SELECT i, 1 + i % 400, repeat(md5(i::text), 20) FROM generate_series(1, 500) i',
  'CREATE MATERIALIZED VIEW amounts AS SELECT item, count(*) FROM part GROUP BY item',
];
/** The same definitions, so that a load can be of the differences. */
const CHANGE = [
  "UPDATE child SET note = 'changed' WHERE id > 2",
  'DELETE FROM item WHERE id > 495',
  "INSERT INTO item VALUES (501, 'code 500', 'a key of a row that is gone')",
  // Two rows exchange a unique value.
  "UPDATE item SET code = 'none' WHERE id = 1",
  "UPDATE item SET code = 'code 1' WHERE id = 2",
  "UPDATE item SET code = 'code 2' WHERE id = 1",
  "UPDATE part SET item = 501, body = 'changed' WHERE id % 100 = 0",
  'DELETE FROM part WHERE id = 7',
];
const SPOIL = ['CREATE TABLE mine (id integer)', 'DELETE FROM item WHERE id > 2', 'DELETE FROM child WHERE id > 2'];

/** Steps after a fault, in this order; an impossible one is left out. */
const FOLLOWING = [
  ['reset'],
  ['branch'],
  ['next'],
  ['undo', 'reset'],
  ['undo', 'branch'],
  ['undo', 'next'],
  ['undo', 'undo', 'reset'],
  ['undo', 'undo', 'next'],
  ['branch', 'reset', 'next'],
] as const;

/** Content of the base copy, and whether it is of the present destination. */
interface ExpectedBase {
  state: string;
  isPresent: boolean;
}

/** Loads by rows from a base copy, which they replace or drop, with a spare, a reset and a branch from what they leave. */
export async function faultedDifferences(world: FaultWorld): Promise<Preparation[]> {
  const { server, settings, watch } = world;
  const context = () => testContext({ settings });
  const planned = (request: Partial<LoadRequest>) =>
    planLoad(context(), { target: 'app', cpus: world.cpus, ...request });
  const load = async (request: Partial<LoadRequest>): Promise<LoadResult> =>
    applyLoad(context(), await planned(request));
  const undo = undoOf(world);
  const reset = async () => applyReset(context(), await planReset(context(), { target: 'app' }));
  const branch = { target: 'app', name: 'one' };
  const createBranch = async () => applyBranchCreate(context(), await planBranchCreate(context(), branch));
  const state = (database = 'copy') => stateOf(world, database);

  await server.run('source', FILL);
  const older = { snapshot: (await build(context(), { target: 'app' })).id, state: '' };
  await server.run('source', CHANGE);
  const newer = { snapshot: (await build(context(), { target: 'app' })).id, state: '' };
  for (const one of [older, newer]) {
    await load({ snapshot: one.snapshot, full: true });
    one.state = await state();
  }
  expect(older.state === newer.state).toBe(false);
  const otherOf = (present: string) => (present === older.state ? newer : older);

  async function byRows(request: Partial<LoadRequest>): Promise<void> {
    expectRows(await load(request));
  }

  /** Makes the destination that of a snapshot, with a base copy from which the other one is loaded by rows. */
  async function begin(left: string | null): Promise<string> {
    let before = left === older.state || left === newer.state ? left : await state();
    const isKnown = before === older.state || before === newer.state;
    const { plan } = await planned({ snapshot: otherOf(before).snapshot });
    if (isKnown && isByRows(plan)) return before;
    const one = before === newer.state ? newer : older;
    await load({ snapshot: one.snapshot, full: true, keepBase: true });
    before = one.state;
    expectRows((await planned({ snapshot: otherOf(before).snapshot })).plan);
    return before;
  }

  async function dropBranch(): Promise<void> {
    await watch.quiet();
    if ((await watch.databases()).includes('copy_one')) await server.drop('copy_one');
  }

  /** Does what follows a fault, and compares each state with the expected one. */
  async function follow(
    { round, at }: FollowUp,
    { present, base: given, previous }: { present: string; base: ExpectedBase | null; previous: string | null },
  ): Promise<string> {
    const steps = round.oneOf(FOLLOWING);
    let [dest, kept] = [present, previous];
    const base = given && { ...given };
    const done: string[] = [];
    const expectState = async (wanted: string, database = 'copy'): Promise<void> => {
      const here = `${at}then ${done.join(', ')}: `;
      expect((await state(database)) === wanted, `${here}${database} is another database`).toBe(true);
    };
    for (const step of steps) {
      done.push(step);
      if (step === 'undo') {
        if (kept === null) continue;
        await undo();
        [dest, kept] = [kept, dest];
        if (base) base.isPresent = !base.isPresent;
        await expectState(dest);
      } else if (step === 'reset') {
        if (base?.isPresent) {
          await server.run('copy', SPOIL.slice(dest === older.state || dest === newer.state ? 0 : 1));
          await reset();
          [dest, kept] = [base.state, null];
        } else {
          const code = await reset().then(
            () => 'done',
            (error) => toUserError(error).code,
          );
          expect(code, `${at}then ${done.join(', ')}`).toBe(base ? 'base_copy_outdated' : 'no_base_copy');
        }
        await expectState(dest);
      } else if (step === 'branch') {
        if (!base) continue;
        await dropBranch();
        await createBranch();
        await expectState(base.state, 'copy_one');
        await dropBranch();
      } else {
        // A base copy of the same snapshot would leave no table to load.
        const to = otherOf(base?.isPresent ? base.state : dest);
        const result = await load({ snapshot: to.snapshot, keepBase: true });
        // The rounds before have replaced rows of the same base copy, and only a preparation loads it anew.
        const isWorn = JSON.stringify(result.difference?.by_table ?? []).includes('many of its rows were replaced');
        if (isWorn) expect(base?.isPresent, `${at}then ${done.join(', ')}`).toBe(true);
        else if (base?.isPresent) expectRows(result, `${at}then ${done.join(', ')}: `);
        else expect(result.difference?.method, `${at}then ${done.join(', ')}`).not.toBe('difference');
        dest = to.state;
        await expectState(dest);
        return dest;
      }
    }
    return dest;
  }

  async function loading(left: string | null, request: { keepBase?: false; spare?: true }) {
    const before = await begin(left);
    const to = otherOf(before);
    const flag = request.spare ? ['--spare'] : [];
    const isDropped = request.keepBase === false;
    return {
      name: ['load by rows', ...flag, ...(isDropped ? ['keep_base: false'] : [])].join(' '),
      run: () => byRows({ snapshot: to.snapshot, ...request }),
      words: ['load', 'app', to.snapshot, ...flag],
      ...(isDropped && { environment: { TOOL_TARGETS__APP__SNAPSHOT__KEEP_BASE: 'false' } }),
      state,
      ...{ before, wanted: to.state, undo: false, dumped: 'copy' },
      follow(after: FollowUp) {
        const isNew = after.now === to.state;
        const isKept = !isNew || !isDropped;
        const base = isKept ? { state: after.now, isPresent: true } : null;
        return follow(after, { present: after.now, base, previous: isNew ? before : null });
      },
    };
  }

  return [
    (left) => loading(left, {}),
    (left) => loading(left, { spare: true }),
    (left) => loading(left, { keepBase: false }),
    async (left) => {
      const to = otherOf(await begin(left));
      await byRows({ snapshot: to.snapshot });
      await server.run('copy', SPOIL);
      return {
        ...{ name: 'reset to a load by rows', run: reset, words: ['reset', 'app'], state, before: await state() },
        ...{ wanted: to.state, undo: false, dumped: 'copy' },
        follow: (after: FollowUp) =>
          follow(after, { present: after.now, base: { state: to.state, isPresent: true }, previous: null }),
      };
    },
    async (left) => {
      await dropBranch();
      const to = otherOf(await begin(left));
      await byRows({ snapshot: to.snapshot });
      const both = async () => `${await state()}\nbranch\n${await state('copy_one')}`;
      const before = await both();
      return {
        ...{ name: 'branch create from a load by rows', run: createBranch, words: ['branch', 'create', 'app', 'one'] },
        ...{ state: both, before, wanted: `${to.state}\nbranch\n${to.state}`, undo: false, dumped: 'copy' },
        async follow(after: FollowUp) {
          await dropBranch();
          return follow(after, { present: to.state, base: { state: to.state, isPresent: true }, previous: null });
        },
      };
    },
  ];
}

function isByRows({ difference }: Pick<LoadPlan, 'difference'>): boolean {
  const ways = new Map(difference?.by_table?.map(({ table, method }) => [table, method]));
  return BY_ROWS.every((table) => ways.get(table) === 'rows');
}

function expectRows(planOrResult: Pick<LoadPlan, 'difference'>, at = ''): void {
  const { difference } = planOrResult;
  const ways = difference?.by_table?.map(({ table, method, reason }) => `${table} ${method}: ${reason}`);
  const text = [difference?.method, difference?.reason, ...(ways ?? [])].join('\n');
  expect(isByRows(planOrResult), `${at}not by rows: ${text}`).toBe(true);
}
