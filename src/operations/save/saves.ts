import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { SaveRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { assertTrusted, isBuiltHere } from '../snapshots/signatures.ts';
import { type FoundSnapshot, snapshotRow } from '../snapshots/snapshots.ts';
import { findTarget } from '../targets/find-target.ts';

/** All schemas: without a choice, only the default one is taken. */
export const WHOLE_DATABASE = { use_default_schema: false };

export interface FoundSave extends FoundSnapshot {
  row: SaveRow;
}

/** The saves of the destination, or of a branch. */
export interface SavesOf {
  target: string;
  branch?: string | undefined;
  /** The agent that makes the request: it has the saves only that it made. */
  owner?: string | undefined;
}

/** The saves of a destination or a branch, newest first: lists of their own, which no list of snapshots contains. */
export async function listSaves(context: Context, of: SavesOf): Promise<FoundSave[]> {
  findTarget(context.configuration, of.target);
  const manifests = await localRepository(context).listSaves(of.target);
  return manifests
    .filter((manifest) => isOf(manifest, of))
    .map((manifest, index) => foundSave(context, manifest, index));
}

/** All saves of a target, newest first; indexes count within the list that each is in. */
export async function listAllSaves(context: Context, target: string): Promise<FoundSave[]> {
  findTarget(context.configuration, target);
  const counts = new Map<string | undefined, number>();
  return (await localRepository(context).listSaves(target)).map((manifest) => {
    const index = counts.get(manifest.branch?.name) ?? 0;
    counts.set(manifest.branch?.name, index + 1);
    return foundSave(context, manifest, index);
  });
}

export function isOf({ branch }: Manifest, of: Omit<SavesOf, 'target'>): boolean {
  return branch?.name === of.branch && (of.owner === undefined || branch?.owner === of.owner);
}

function foundSave(context: Context, manifest: Manifest, index: number): FoundSave {
  let row: SaveRow | undefined;
  return {
    manifest,
    // Its signature is verified for those only that are shown.
    get row() {
      row ??= saveRow(context, manifest, index);
      return row;
    },
    local: true,
    remote: null,
  };
}

export function saveRow(context: Context, manifest: Manifest, index: number): SaveRow {
  const { save = '', automatic, branch } = manifest;
  return {
    ...{ name: save, ...snapshotRow(context, manifest, index) },
    ...(automatic && { automatic }),
    ...(branch && { branch: { name: branch.name, owner: branch.owner } }),
  };
}

export interface SaveRequest extends SavesOf {
  /** Name or index; default: the newest. */
  save?: string | undefined;
}

/** Throws where there is none; an error of wrong usage. */
export async function findSave(context: Context, { save = '0', ...of }: SaveRequest): Promise<FoundSave> {
  const saves = await listSaves(context, of);
  // A forged save could have the name 0.
  const found = INDEX.test(save) ? saves[Number(save)] : saves.find(({ manifest }) => manifest.save === save);
  if (found) return found;
  throw saves.length === 0 ? noSaves(of) : saveMissing(of, save);
}

/** The save to load. One that this machine has not made needs what a snapshot of others needs. */
export async function findLoadableSave(context: Context, { id, ...of }: SavesOf & { id: string }) {
  const found = (await listSaves(context, of)).find(({ manifest }) => manifest.id === id);
  if (!found) throw saveMissing(of, id);
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

/** A person, an agent, or what saves before loads of agents. */
export function makerOf({ branch, automatic }: Pick<Manifest, 'branch' | 'automatic'>): string {
  return JSON.stringify(branch?.owner ?? automatic === 'agent');
}

function noSaves({ target, branch }: SavesOf): UserError {
  if (branch !== undefined) {
    return new UserError('save_missing', `Branch "${branch}" of "${target}" has no saves yet`, {
      hint: `Save it: ${shell`tool save ${target} --branch ${branch}`}. Another point is load: the base copy.`,
    });
  }
  return new UserError('save_missing', `Target "${target}" has no saves yet`, {
    hint: `Save the destination: ${shell`tool save ${target}`}. Other points: ${shell`tool back ${target} load`}, ${shell`tool back ${target} previous`}`,
  });
}

/** Neither a new build nor an option of a load helps here. */
function notMadeHere({ manifest: { target }, row }: FoundSave, { code }: UserError): UserError {
  const message = `Save ${JSON.stringify(row.name)} of ${target} was not made on this machine, or its manifest was changed`;
  return new UserError(code, message, {
    hint: `Choose another point (${shell`tool back ${target} --list`}), or remove the save: ${shell`tool save ${target} NAME --remove`}`,
  });
}

function saveMissing({ target, branch }: SavesOf, save: string): UserError {
  const of = branch === undefined ? `Target "${target}"` : `Branch "${branch}" of "${target}"`;
  const flag = branch === undefined ? '' : shell` --branch ${branch}`;
  return new UserError('save_missing', `${of} has no save ${JSON.stringify(save)}`, {
    hint: `List the points to return to: ${shell`tool back ${target}`}${flag} --list`,
  });
}
