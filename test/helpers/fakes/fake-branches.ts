import type { BranchRow } from '../../../src/results/branch-results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { FakePlannedWork } from './fake-planned-work.ts';
import type { FakeWorld } from './fake-world.ts';

type BranchWork = Pick<FakePlannedWork, `branch ${'create' | 'reset' | 'drop' | 'switch'}`>;

const PLANNED_AT = '2026-11-21T03:00:00.000Z';

export function fakeBranch(name: string, more: Partial<BranchRow> = {}): BranchRow {
  const database = `app_dev_${name}`;
  return {
    ...{ name, database, url: `postgres://app@localhost:5432/${database}`, current: false },
    ...{ created_at: '2026-11-20T05:00:00.000Z', reset_at: null, last_used_at: null, clients: 0 },
    ...{ size_bytes: 60_000_000, own_bytes: 60_000_000, snapshot: '3f2a9c01' },
    ...{ repository: 'https://git.example.com/app.git', git_branch: name },
    ...{ tree: null, tree_token: null, expires_at: null, protected: false, owner: null, origin: null },
    ...more,
  };
}

/** Branches of every target, over a world that the test can look at and change. */
export function fakeBranchWork(world: FakeWorld): BranchWork {
  const find = (name: string): BranchRow => {
    const branch = world.branches.find((each) => each.name === name);
    if (!branch) throw new UserError('branch_missing', `no branch ${name}`);
    return branch;
  };
  const planned = <Request, Plan>(request: Request, plan: Plan) => ({ request, plan, planned_at: PLANNED_AT });
  const of = (target: string) => ({ target, destination: world.destination, unverified_sources: [] });
  const base = () => {
    if (!world.base) throw new UserError('no_base_copy', 'There is no base copy of app_dev');
    return world.base;
  };
  return {
    'branch create': {
      plan: async (_session, request) => ({
        ...planned(request, {
          ...of(request.target),
          ...{ base: base(), load: null, existing: [], needs_bytes: 60_000_000, git_branch: 'main', warnings: [] },
          branches: [{ name: request.name, database: `app_dev_${request.name}` }],
          steps: [`Create branch ${request.name}`],
        }),
        ...{ load: null, origin: null, checkout: null },
      }),
      apply: async (_session, { request: { target, name, from } }) => {
        const branch = fakeBranch(name);
        world.branches.push(branch);
        world.done.push(`create branch ${name}${from === undefined ? '' : ` from ${from}`}`);
        const { database, url } = branch;
        return { target, snapshot: '3f2a9c01', branches: [{ name, database, url, created: true }] };
      },
    },
    'branch reset': {
      plan: async (_session, request) =>
        planned(request, {
          ...of(request.target),
          ...{ base: base(), branches: [find(request.name)], needs_bytes: 60_000_000, steps: [] },
        }),
      apply: async (_session, { request: { target, name } }) => {
        world.done.push(`reset branch ${name}`);
        const { database } = find(name);
        return {
          target,
          snapshot: '3f2a9c01',
          branches: [{ name, database, way: 'copy', way_reason: 'it is a fake', swap_ms: 12 }],
          undo_database: null,
        };
      },
    },
    'branch drop': {
      plan: async (_session, request) =>
        planned(request, { ...of(request.target), branches: request.names.map(find), frees_bytes: 60_000_000 }),
      apply: async (_session, { plan: { target, branches } }) => {
        const names = branches.map(({ name }) => name);
        world.branches = world.branches.filter(({ name }) => !names.includes(name));
        world.done.push(`drop branch ${names.join(', ')}`);
        return { target, dropped: branches };
      },
    },
    'branch switch': {
      plan: async (_session, request) =>
        planned(request, { ...of(request.target), branch: find(request.name), previous: null, steps: [] }),
      apply: async (_session, { request: { target, name } }) => {
        world.branches = world.branches.map((branch) => ({ ...branch, current: branch.name === name }));
        world.done.push(`switch to ${name}`);
        const destination = world.destination.url;
        return { target, destination, branch: name, previous: null, swap_ms: 12, undo_database: 'app_dev.tool-undo' };
      },
    },
  };
}
