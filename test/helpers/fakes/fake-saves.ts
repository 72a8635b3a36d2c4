import type { LoadResult } from '../../../src/results/load-results.ts';
import type { BackPoint } from '../../../src/results/saves/save-results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { FakePlannedWork } from './fake-planned-work.ts';
import { type FakeWorld, fakeSnapshot } from './fake-world.ts';

const PLANNED_AT = '2026-11-21T03:00:00.000Z';

export function fakePoints(): BackPoint[] {
  return [
    {
      ...{ kind: 'previous', name: 'previous', way: 'swap', made_by: 'the last load, reset, undo or return' },
      ...{ created_at: '2026-11-20T05:00:00.000Z', size_bytes: 59_000_000 },
    },
    {
      ...{ kind: 'load', name: 'load', way: 'copy', made_by: 'the last load', created_at: null, size_bytes: null },
      unavailable: 'No load into app_dev is known on this machine',
    },
    {
      ...{ kind: 'save', name: 'before-migration', index: 0, way: 'restore', made_by: 'tool save' },
      ...{ created_at: '2026-11-21T04:55:00.000Z', size_bytes: 60_000_000, note: 'with \u001b[2J 漢字' },
    },
    {
      ...{ kind: 'save', name: '漢字 🚀', index: 1, way: 'restore', made_by: 'tool save' },
      ...{ created_at: '2026-11-19T04:55:00.000Z', size_bytes: 60_000_000 },
    },
  ];
}

/** Saves and returns, over a world that the test can look at and change; a return is an undo. */
export function fakeSaves(
  world: FakeWorld,
  result: (snapshot: null) => LoadResult,
): Pick<FakePlannedWork, 'save' | 'back'> {
  return {
    save: {
      plan: async (_session, request) => {
        const { target, branch, name = PLANNED_AT, note = null } = request;
        if (world.points.some((point) => point.name === name)) {
          throw new UserError('save_exists', `Target "${target}" has a save ${JSON.stringify(name)} already`);
        }
        const plan = {
          target,
          ...(branch !== undefined && { branch }),
          name,
          note,
          destination: world.destination.url,
          all_read: null,
        };
        return { request, plan, planned_at: PLANNED_AT };
      },
      apply: async (_session, { plan: { target, branch, name } }) => {
        world.done.push(`save ${branch ?? target} ${name}`);
        world.points.push({
          ...{ kind: 'save', name, index: 2, way: 'restore', made_by: 'tool save' },
          ...{ created_at: '2026-11-21T05:00:00.000Z', size_bytes: 60_000_000 },
        });
        return { target, save: { ...fakeSnapshot(), name }, removed: [] };
      },
    },
    back: {
      plan: async (_session, request) => {
        const { target, branch, point = '0' } = request;
        const undo = {
          ...{ target, destination: world.destination, undo_database: 'app_dev.tool-undo', unverified_sources: [] },
          ...{ replaced_at: PLANNED_AT, size_bytes: 59_000_000 },
        };
        return {
          ...{
            request,
            plan: { target, ...(branch !== undefined && { branch }), point, undo },
            planned_at: PLANNED_AT,
            load: null,
            reset: null,
            branchReset: null,
          },
          undo: { request: { target }, plan: undo, planned_at: PLANNED_AT },
        };
      },
      apply: async (_session, { plan: { target, branch, point } }) => {
        world.done.push(`back ${branch ?? target} ${point}`);
        return { target, point, load: result(null) };
      },
    },
  };
}
