import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { SaveRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { assertTrusted, isBuiltHere } from '../snapshots/signatures.ts';
import { type FoundSnapshot, snapshotRow } from '../snapshots/snapshots.ts';
import { findTarget } from '../targets/find-target.ts';

/** All schemas: without a choice, only the default one is taken. */
export const WHOLE_DATABASE = { use_default_schema: false };

export interface FoundSave extends FoundSnapshot {
  row: SaveRow;
}

/** The saves of a target, newest first: a list of their own, which no list of snapshots contains. */
export async function listSaves(context: Context, target: string): Promise<FoundSave[]> {
  findTarget(context.configuration, target);
  const manifests = await localRepository(context).listSaves(target);
  return manifests.map((manifest, index) => ({
    manifest,
    row: saveRow(context, manifest, index),
    local: true,
    remote: null,
  }));
}

export function saveRow(context: Context, manifest: Manifest, index: number): SaveRow {
  const { save = '', automatic } = manifest;
  return { name: save, ...snapshotRow(context, manifest, index), ...(automatic && { automatic }) };
}

export interface SaveRequest {
  target: string;
  /** Name or index; default: the newest. */
  save?: string | undefined;
}

/** Throws where there is none; an error of wrong usage. */
export async function findSave(context: Context, { target, save = '0' }: SaveRequest): Promise<FoundSave> {
  const saves = await listSaves(context, target);
  // A forged save could have the name 0.
  const found = INDEX.test(save) ? saves[Number(save)] : saves.find(({ row }) => row.name === save);
  if (found) return found;
  throw saves.length === 0 ? noSaves(target) : saveMissing(target, save);
}

/** The save to load. One that this machine has not made needs what a snapshot of others needs. */
export async function findLoadableSave(context: Context, { target, id }: { target: string; id: string }) {
  const found = (await listSaves(context, target)).find(({ row }) => row.id === id);
  if (!found) throw saveMissing(target, id);
  if (await isBuiltHere(context, found.manifest)) return found;
  try {
    assertTrusted(context, found.manifest, {});
  } catch (thrown) {
    throw thrown instanceof UserError ? notMadeHere(found, thrown) : thrown;
  }
  return found;
}

const INDEX = /^\d{1,9}$/;

/** Points of `tool back` that are no saves, and what would be taken for an index. */
export function isReservedName(name: string): boolean {
  return INDEX.test(name) || name === 'load' || name === 'previous';
}

function noSaves(target: string): UserError {
  return new UserError('save_missing', `Target "${target}" has no saves yet`, {
    hint: `Save the destination: tool save ${target}. Other points: tool back ${target} load, tool back ${target} previous`,
  });
}

/** Neither a new build nor an option of a load helps here. */
function notMadeHere({ manifest: { target }, row }: FoundSave, { code }: UserError): UserError {
  const message = `Save ${JSON.stringify(row.name)} of ${target} was not made on this machine, or its manifest was changed`;
  return new UserError(code, message, {
    hint: `Choose another point (tool back ${target} --list), or remove the save: tool save ${target} NAME --remove`,
  });
}

function saveMissing(target: string, save: string): UserError {
  return new UserError('save_missing', `Target "${target}" has no save ${JSON.stringify(save)}`, {
    hint: `List the points to return to: tool back ${target} --list`,
  });
}
