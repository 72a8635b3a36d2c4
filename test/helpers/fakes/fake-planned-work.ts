import type { ShownPlan } from '../../../screens/app/operations.ts';
import type { backOperation } from '../../../src/operations/back/operation.ts';
import type { branchCreateOperation } from '../../../src/operations/branch/create/operation.ts';
import type { branchDropOperation } from '../../../src/operations/branch/drop/operation.ts';
import type { branchResetOperation } from '../../../src/operations/branch/reset/operation.ts';
import type { branchSwitchOperation } from '../../../src/operations/branch/switch/operation.ts';
import type { buildOperation } from '../../../src/operations/build/operation.ts';
import { contentOf } from '../../../src/operations/expected-steps.ts';
import type { loadOperation } from '../../../src/operations/load/operation.ts';
import type { PlannedWork } from '../../../src/operations/operation.ts';
import type { Planned } from '../../../src/operations/planned.ts';
import type { pruneOperation } from '../../../src/operations/prune/operation.ts';
import type { rehearseOperation } from '../../../src/operations/rehearse/operation.ts';
import type { removeOperation } from '../../../src/operations/remove/operation.ts';
import type { resetOperation } from '../../../src/operations/reset/operation.ts';
import type { sanitizeOperation } from '../../../src/operations/sanitize/operation.ts';
import type { querySave } from '../../../src/operations/sanitize/query-save.ts';
import type { saveOperation } from '../../../src/operations/save/operation.ts';
import type { downOperation } from '../../../src/operations/servers/down/operation.ts';
import type { upOperation } from '../../../src/operations/servers/up/operation.ts';
import type { subsetOperation } from '../../../src/operations/subset/operation.ts';
import type { undoOperation } from '../../../src/operations/undo/operation.ts';
import { keptBy } from '../../../src/repository/keep-policy.ts';
import type { LoadDifference, LoadPlan, LoadResult } from '../../../src/results/load-results.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import type { TableSelection } from '../../../src/results/selected-tables.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { RunContext } from '../../../src/state/runs.ts';
import { fakeBranchWork } from './fake-branches.ts';
import { fakeRehearse } from './fake-rehearsal.ts';
import { fakeCoverage, fakeSanitize } from './fake-sanitize.ts';
import { fakeSaves } from './fake-saves.ts';
import { fakeServerWork } from './fake-servers.ts';
import { fakePlannedSubset } from './fake-subset.ts';
import { type FakeWorld, fakeSnapshot, findSnapshot } from './fake-world.ts';
import { unlessAborted } from './unless-aborted.ts';

const PLANNED_AT = '2026-11-21T03:00:00.000Z';

/** Plans and applies an operation without databases. */
export type FakeWork<Op> =
  Op extends PlannedWork<infer Request, infer P extends Planned<unknown, unknown>, infer Result>
    ? {
        plan: (session: RunContext, request: Request) => Promise<P>;
        apply: (session: RunContext, planned: P) => Promise<Result>;
      }
    : never;

/** By the ids of the operations. */
export interface FakePlannedWork {
  build: FakeWork<typeof buildOperation>;
  sanitize: FakeWork<typeof sanitizeOperation>;
  'save query': FakeWork<typeof querySave>;
  load: FakeWork<typeof loadOperation>;
  rm: FakeWork<typeof removeOperation>;
  prune: FakeWork<typeof pruneOperation>;
  undo: FakeWork<typeof undoOperation>;
  reset: FakeWork<typeof resetOperation>;
  save: FakeWork<typeof saveOperation>;
  back: FakeWork<typeof backOperation>;
  subset: FakeWork<typeof subsetOperation>;
  'branch create': FakeWork<typeof branchCreateOperation>;
  'branch reset': FakeWork<typeof branchResetOperation>;
  'branch drop': FakeWork<typeof branchDropOperation>;
  'branch switch': FakeWork<typeof branchSwitchOperation>;
  rehearse: FakeWork<typeof rehearseOperation>;
  up: FakeWork<typeof upOperation>;
  down: FakeWork<typeof downOperation>;
}

/** The functions of the screens that plan and apply, by `work`. */
export function planAndApply(work: FakePlannedWork) {
  // The id of an operation names the fake of its types.
  const of = <Request, P extends Planned<Request, unknown>, Result>({ id }: PlannedWork<Request, P, Result>) =>
    (work as unknown as Record<string, FakeWork<PlannedWork<Request, P, Result>>>)[id] as {
      plan: (session: RunContext, request: Request) => Promise<P>;
      apply: (session: RunContext, planned: P) => Promise<Result>;
    };
  return {
    async plan<Request, P extends Planned<Request, unknown>, Result>(
      session: RunContext,
      operation: PlannedWork<Request, P, Result>,
      request: NoInfer<Request>,
    ): Promise<ShownPlan<P>> {
      const sealed = await of(operation).plan(session, request);
      return { shown: sealed.plan, sealed };
    },
    apply: <Request, P extends Planned<Request, unknown>, Result>(
      session: RunContext,
      operation: PlannedWork<Request, P, Result>,
      sealed: NoInfer<P>,
    ): Promise<Result> => of(operation).apply(session, sealed),
  };
}

/** Over a world that the test can look at and change. */
export function fakePlannedWork(world: FakeWorld): FakePlannedWork {
  const snapshotsOf = (target: string) => world.snapshots[target] ?? [];
  const find = (target: string, id: unknown) => findSnapshot(world, target, id);
  const result = (snapshot: SnapshotRow | null, selection: TableSelection | null = null): LoadResult => ({
    snapshot,
    destination: world.destination.url,
    tables: 25,
    rows: 200_123,
    size_bytes: 48_300_000,
    selection,
    swap_ms: 130,
    undo_database: 'app_dev_before',
  });
  const build = async (session: RunContext, { target }: { target: string }) => {
    session.report({ event: 'step', step: 'connect', state: 'started', label: `Connect to ${target}` });
    session.report({ event: 'step', step: 'connect', state: 'done', label: `Connect to ${target}` });
    await working(session, world, { step: 'dump', label: 'Dump 25 tables', command: 'pg_dump -Fd -j2 app' });
    const older = snapshotsOf(target).map((row) => ({ ...row, index: row.index + 1 }));
    const row = fakeSnapshot({ index: 0, id: `built-${older.length}` });
    world.snapshots[target] = [row, ...older];
    world.done.push(`build ${target}`);
    return row;
  };
  const sanitize: FakePlannedWork['sanitize'] = {
    plan: async (_session, { target, snapshot }) => {
      if (world.noQuery) throw new UserError('query_missing', `Target "${target}" has no query`);
      return fakeSanitize(world, { target, snapshot: find(target, snapshot) });
    },
    apply: async (session, { plan: { target, snapshot } }) => {
      await working(session, world, { step: 'query', label: 'Run 3 statements', command: 'psql app_clean' });
      world.done.push(`sanitize ${target}`);
      const original = snapshot ?? fakeSnapshot();
      return {
        original,
        snapshot: fakeSnapshot({ id: 'sanitized', sanitized: true, sanitized_of: original.id }),
        destination: null,
        statements: 3,
        coverage: fakeCoverage(),
        swap_ms: null,
        undo_database: null,
      };
    },
  };
  return {
    ...fakeBranchWork(world),
    ...fakeRehearse(world),
    ...fakeServerWork(world),
    ...fakeSaves(world, result),
    build: {
      plan: async (_session, request) => {
        const { target, note = null, push = true } = request;
        const planned = world.queryFile === null ? null : fakeSanitize(world, { target, snapshot: null });
        const plan = { target, note, push, all_read: null, content: contentOf(null), sanitize: planned?.plan ?? null };
        return { request, plan, planned_at: PLANNED_AT, sanitize: planned };
      },
      apply: async (session, { request, sanitize: planned }) => {
        if (!planned) return { snapshot: await build(session, request) };
        const { snapshot: sanitized, original: snapshot, ...rest } = await sanitize.apply(session, planned);
        return { snapshot, sanitized, ...rest };
      },
    },
    sanitize,
    'save query': {
      plan: async (_session, request) => {
        const { target, query } = request;
        const configuration = { file: '/home/ada/tool.yml', key: `targets.${target}.sanitize.query_file` };
        return {
          request,
          plan: {
            ...{ target, file: `/home/ada/${target}.sanitize.sql`, exists: false, before: '', after: query },
            configuration: { ...configuration, value: `./${target}.sanitize.sql` },
          },
          planned_at: PLANNED_AT,
        };
      },
      apply: async (_session, { plan: { file, after } }) => {
        world.done.push(`write ${file}: ${after.split('\n').filter((line) => !line.startsWith('--')).length} lines`);
        return { file };
      },
    },
    load: {
      plan: async (_session, request) => ({
        request,
        plan: {
          ...loadPlan(world, find(request.target, request.snapshot)),
          selection: request.tables ? fakeSelection(request.tables) : null,
          ...(world.base?.snapshot === find(request.target, request.snapshot).id && { reset_instead: true as const }),
          ...(world.base && { difference: fakeDifference(request.full ?? false) }),
          ...(request.afterLoad !== false && world.afterLoad && { after_load: world.afterLoad }),
        },
        planned_at: PLANNED_AT,
        restore: null,
      }),
      apply: async (session, planned) => {
        await working(session, world, { step: 'restore', label: 'Restore 25 tables', command: 'pg_restore -j2' });
        if (world.failLoad) throw world.failLoad;
        const { target, snapshot, selection } = planned.plan;
        const { only } = planned.request;
        world.done.push(['load', target, ...(selection?.chosen ?? []), ...(only ? ['--only'] : [])].join(' '));
        return result(snapshot, selection);
      },
    },
    rm: {
      plan: async (_session, request) => ({
        request,
        plan: {
          target: request.target,
          snapshot: find(request.target, request.snapshot),
          from: ['local'],
          frees_bytes: 1_200_000,
        },
        planned_at: PLANNED_AT,
      }),
      apply: async (_session, { plan }) => {
        const { target, snapshot } = plan;
        world.snapshots[target] = snapshotsOf(target).filter(({ id }) => id !== snapshot.id);
        world.done.push(`remove ${target} ${snapshot.id}`);
        return plan;
      },
    },
    prune: {
      plan: async (_session, request) => {
        const { target = 'app', remove: ids, keep: rules } = request;
        const kept = keptBy(rules, snapshotsOf(target), new Date('2026-11-22T03:00:00.000Z'));
        const isGone = (row: SnapshotRow) => (ids ? ids.includes(row.id) : !kept.has(row));
        const { remove = [], keep = [] } = Object.groupBy(snapshotsOf(target), (row) =>
          isGone(row) ? 'remove' : 'keep',
        );
        const planned = { target, keep, remove, from: ['local' as const], frees_bytes: 2_400_000 };
        return { request, plan: { targets: [planned], frees_bytes: 2_400_000 }, planned_at: PLANNED_AT };
      },
      apply: async (_session, { plan }) => {
        for (const { target, remove } of plan.targets) {
          const ids = remove.map(({ id }) => id);
          world.snapshots[target] = snapshotsOf(target).filter(({ id }) => !ids.includes(id));
          world.done.push(`remove ${target} ${ids.join(' ')}`);
        }
        return plan;
      },
    },
    undo: {
      plan: async (_session, request) => ({
        request,
        plan: {
          target: request.target,
          destination: world.destination,
          undo_database: 'app_dev_before',
          unverified_sources: [],
          replaced_at: '2026-11-21T03:00:00.000Z',
          size_bytes: 59_000_000,
        },
        planned_at: PLANNED_AT,
      }),
      apply: async (_session, { plan: { target } }) => {
        world.done.push(`undo ${target}`);
        return result(null);
      },
    },
    reset: {
      plan: async (_session, request) => {
        if (!world.base) throw new UserError('no_base_copy', 'There is no base copy of app_dev');
        return {
          request,
          plan: {
            target: request.target,
            destination: world.destination,
            base: world.base,
            way: 'copy',
            way_reason: 'definitions have changed',
            from: 'base',
            undo: true,
            spare: false,
            needs_bytes: world.base.size_bytes,
            unverified_sources: [],
            steps: ['Copy app_dev.tool-base by its files', 'Swap the two by name'],
            warnings: [],
          },
          planned_at: PLANNED_AT,
        };
      },
      apply: async (_session, { plan: { target, base, from, destination } }) => {
        world.done.push(`reset ${target}`);
        return {
          ...{
            target,
            destination: destination.url,
            snapshot: base.snapshot,
            loaded_at: base.loaded_at,
            from,
            way: 'copy',
          },
          ...{ size_bytes: base.size_bytes, swap_ms: 20, undo_database: 'app_dev.tool-undo', spare_database: null },
        };
      },
    },
    subset: {
      plan: async (_session, request) => fakePlannedSubset(world, request),
      apply: async (session, { plan: { target, destination } }) => {
        await working(session, world, { step: 'copy', label: 'Copy the rows', command: 'psql app_small' });
        world.done.push(`subset ${target}`);
        return {
          ...{ target, destination: destination.url, seed: 1, rows: 620, proof: [], swap_ms: 9, undo_database: null },
          tables: [{ table: 'public.customer', rows: 50 }],
          snapshot: null,
        };
      },
    },
  };
}

/** What is asked for, with a table that it needs. */
function fakeSelection(chosen: string[]): TableSelection {
  return {
    chosen,
    needed: [{ table: 'public.customer', needed_by: chosen[0] ?? '', why: 'reference' }],
    empty: Array.from({ length: 24 - chosen.length }, (_, index) => `public.other_${index}`),
  };
}

export async function working(
  { report, signal }: RunContext,
  world: FakeWorld,
  { step, label, command }: { step: string; label: string; command: string },
): Promise<void> {
  report({ event: 'step', step, state: 'started', label });
  report({ event: 'command', command });
  report({ event: 'progress', step, done: 12_000_000, total: 48_000_000, unit: 'bytes', current: 'public.orders' });
  await unlessAborted(world.gate, signal);
  report({ event: 'step', step, state: 'done', label });
}

function loadPlan(world: FakeWorld, snapshot: SnapshotRow): LoadPlan {
  return {
    target: 'app',
    snapshot,
    file: null,
    sanitized: snapshot.sanitized,
    sanitized_reason: snapshot.sanitized ? 'the sanitized copy' : 'the target has no sanitization query',
    destination: world.destination,
    chosen_by: 'targets.app.snapshot.dst_url',
    strategy: 'swap',
    unverified_sources: [],
    strategy_reason: 'restored beside it and swapped by rename: the role may create databases',
    undo: true,
    schemas: snapshot.schemas,
    tables: snapshot.tables,
    rows: snapshot.rows,
    size_bytes: snapshot.size_bytes,
    selection: null,
    jobs: 2,
    steps: [
      'Create the database app_dev_load beside app_dev',
      'Restore 25 tables into it with 2 jobs',
      'Check rows, indexes, constraints and sequences against the manifest',
      'End 2 sessions and swap the two by rename',
    ],
    warnings: [{ code: 'sessions_open', message: '2 sessions are open on app_dev and will be ended' }],
  };
}

function fakeDifference(full: boolean): LoadDifference {
  const base = { base: 'app_dev.tool-base', base_snapshot: 'snapshot-7' };
  if (full) return { method: 'full', reason: '--full was given', ...base, ...amounts(25, 0) };
  return { method: 'difference', reason: 'definitions are equal', ...base, ...amounts(1, 24) };
}

function amounts(tables: number, saved_tables: number) {
  return { tables, size_bytes: tables * 1_000_000, saved_tables, saved_bytes: saved_tables * 1_000_000 };
}
