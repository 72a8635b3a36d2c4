import type { Database } from '../../engines/open-database.ts';
import type { BackPoint, BackPoints } from '../../results/saves/save-results.ts';
import type { SaveBefore } from '../../results/saves/saves-before.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { openSeparateBranch } from '../branch/open-branch.ts';
import { chooseDestination, openDestination } from '../load/destination.ts';
import { listSaves, type SavesOf } from '../save/saves.ts';
import { findSnapshot } from '../snapshots/snapshots.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { lastLoad, otherTargetOf } from './last-load.ts';

/** The states that the destination can return to: `previous`, `load`, and the saves, newest first. Of a branch without `previous`. */
export async function listPoints(given: Context, request: SavesOf): Promise<BackPoints> {
  const { target, branch } = request;
  if (branch !== undefined) return listBranchPoints(given, { ...request, branch });
  const context = await withTargetUrls(given, target, { source: false });
  const database = openDestination(context, chooseDestination(context, { target }));
  const before = [await previousPoint(database), await loadPoint(context, { target, database })];
  return { target, destination: database.url.display, points: [...before, ...(await savePoints(context, request))] };
}

async function listBranchPoints(given: Context, request: SavesOf & { branch: string }): Promise<BackPoints> {
  const { context, database, branch: found, destination } = await openSeparateBranch(given, request);
  if (found.origin) {
    const { origin, createdAt } = found;
    const point: BackPoint = {
      ...{ kind: 'load', name: 'load', way: 'restore', created_at: createdAt, size_bytes: null },
      made_by: `the state of branch ${origin.branch}`,
    };
    return pointsOf(context, request, { database, point });
  }
  const { base } = await destination.restore.findCopies();
  const load = { kind: 'load', name: 'load', way: 'copy', made_by: loadOf(base?.snapshot ?? null) } as const;
  const point: BackPoint = base?.closed
    ? { ...load, created_at: base.loadedAt, size_bytes: base.sizeBytes }
    : { ...load, created_at: null, size_bytes: null, unavailable: base?.outdated ?? 'There is no base copy' };
  return pointsOf(context, request, { database, point });
}

async function pointsOf(
  context: Context,
  { target, branch, owner }: SavesOf & { branch: string },
  { database, point }: { database: Database; point: BackPoint },
): Promise<BackPoints> {
  const points = [point, ...(await savePoints(context, { target, branch, owner }))];
  return { target, branch, destination: database.url.display, points };
}

async function savePoints(context: Context, of: SavesOf): Promise<BackPoint[]> {
  const saves = await listSaves(context, of);
  return saves.map(
    ({ row: { name, index, created_at, size_bytes, note, automatic } }): BackPoint => ({
      ...{
        kind: 'save',
        name,
        index,
        created_at,
        size_bytes,
        made_by: automatic ? AUTOMATIC[automatic] : 'tool save',
      },
      ...(automatic && { automatic }),
      ...(note !== null && { note }),
      way: 'restore',
    }),
  );
}

const AUTOMATIC: Record<SaveBefore, string> = {
  load: 'automatic, before a load',
  after_load: 'automatic, before a load with steps',
  branch_switch: 'automatic, before a switch of branches',
  agent: 'automatic, before a change by an agent',
};

async function previousPoint({ restore }: Database): Promise<BackPoint> {
  const point = {
    kind: 'previous',
    name: 'previous',
    made_by: 'the last load, reset, undo or return',
    way: 'swap',
  } as const;
  try {
    const { replacedAt, sizeBytes, tables } = await restore.findUndoCopy();
    const rows = tables && { tables, way: 'in_place' as const };
    return { ...point, created_at: replacedAt, size_bytes: sizeBytes, ...rows };
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'nothing_to_undo')) throw error;
    return { ...point, created_at: null, size_bytes: null, unavailable: error.message };
  }
}

async function loadPoint(
  context: Context,
  { target, database: { restore, url } }: { target: string; database: Database },
): Promise<BackPoint> {
  const { base, spare } = await restore.findCopies();
  const point = { kind: 'load', name: 'load' } as const;
  const other = await otherTargetOf(context, { target, url, snapshot: base?.snapshot ?? null });
  if (base && base.outdated === null && other === null) {
    const { snapshot, loadedAt, sizeBytes } = base;
    return {
      ...{ ...point, created_at: loadedAt, size_bytes: sizeBytes, way: spare?.outdated === null ? 'swap' : 'copy' },
      made_by: loadOf(snapshot),
    };
  }
  const none = { ...point, created_at: null, size_bytes: null, way: 'restore' as const };
  const last = await lastLoad(context, { target, url });
  if (!last) {
    const unavailable = `No load into ${url.display} is known on this machine, or it was of another target or a part`;
    return { ...none, made_by: 'the last load', unavailable };
  }
  const made = { made_by: loadOf(last.snapshot), created_at: last.at };
  try {
    const { row } = await findSnapshot(context, { target, snapshot: last.snapshot });
    return { ...none, ...made, size_bytes: row.size_bytes };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...none, ...made, unavailable: error.message };
  }
}

function loadOf(snapshot: string | null): string {
  return `the load of snapshot ${snapshot ?? 'unknown'}`;
}
