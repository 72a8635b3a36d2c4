import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { ChangesResult } from '../../results/review/changes-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { toSelector } from '../../text/snapshot-selector.ts';
import type { DestinationOfTarget } from '../back/last-load.ts';
import { findOrigin } from '../history/origin.ts';
import { type FoundSave, listSaves } from '../save/saves.ts';
import { assertLocal } from '../snapshots/rows/rows.ts';
import { type FoundSnapshot, findSnapshot } from '../snapshots/snapshots.ts';

export interface ChangesBase {
  manifest: Manifest;
  since: ChangesResult['since'];
}

export interface BaseRequest {
  target: string;
  /** Name of a save, or a snapshot. Default: the last load. */
  since?: string | undefined;
  /** A branch, which has saves of its own. */
  branch?: string | undefined;
  owner?: string | undefined;
}

/** The state that a database is compared with. Both sides of a comparison are read on this machine. */
export async function findBase(
  context: Context,
  { target, since, branch, owner }: BaseRequest,
  origin: () => Promise<string>,
): Promise<ChangesBase> {
  const ofDestination = branch !== undefined && owner === undefined ? await listSaves(context, { target }) : [];
  const saves = [...(await listSaves(context, { target, branch, owner })), ...ofDestination];
  if (since !== undefined) {
    const save = saves.find(({ manifest }) => manifest.save === since);
    if (save) return ofSave('save', save);
    const found = await findSnapshot(context, { target, snapshot: toSelector(since) }).catch((error) => {
      throw isMissing(error) ? noState(target, since) : error;
    });
    return ofSnapshot('snapshot', target, found);
  }
  const loaded = await origin();
  const save = saves.find(({ manifest }) => manifest.id === loaded);
  if (save) return ofSave('load', save);
  const found = await findSnapshot(context, { target, snapshot: loaded }).catch((error) => {
    throw isMissing(error) ? baseMissing(target, loaded) : error;
  });
  return ofSnapshot('load', target, found);
}

function ofSave(kind: ChangesBase['since']['kind'], { manifest, row: { name, ...snapshot } }: FoundSave): ChangesBase {
  return { manifest, since: { kind, name, snapshot } };
}

function ofSnapshot(kind: ChangesBase['since']['kind'], target: string, found: FoundSnapshot): ChangesBase {
  assertLocal(found, target);
  const snapshot: SnapshotRow = found.row;
  return { manifest: found.manifest, since: { kind, snapshot } };
}

/** The id of the snapshot or save that the database has been since its last load, return, reset or undo. */
export async function originOf(context: Context, { target, url }: DestinationOfTarget): Promise<string> {
  const origin = await findOrigin(context, url);
  if (origin === null) throw neverLoaded(target, url.display);
  if (origin.snapshot === null || origin.method === 'tables') throw loadUnknown(target, url.display);
  return origin.snapshot;
}

function neverLoaded(target: string, url: string): UserError {
  return new UserError('load_unknown', `No load into ${url} is known on this machine`, {
    hint: `Load it first (${shell`tool load ${target}`}), or name the state to compare with: ${shell`tool changes ${target} --since SNAPSHOT`}`,
  });
}

function loadUnknown(target: string, url: string): UserError {
  return new UserError('load_unknown', `The last load into ${url} was of selected tables or of an SQL file`, {
    hint: `Name the state to compare with: ${shell`tool changes ${target} --since SNAPSHOT`}`,
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof UserError && error.code === 'snapshot_missing';
}

function noState(target: string, since: string): UserError {
  return new UserError('snapshot_missing', `Target "${target}" has no save or snapshot ${since}`, {
    hint: `List them: ${shell`tool back ${target} --list`}, ${shell`tool target ${target}`}`,
  });
}

function baseMissing(target: string, id: string): UserError {
  return new UserError('snapshot_missing', `Target "${target}" has no snapshot ${id}, which was loaded last`, {
    hint: `Name another state to compare with: ${shell`tool changes ${target} --since SNAPSHOT`}, or a save of ${shell`tool back ${target} --list`}`,
  });
}
