import { headlineOf } from '../../repository/headlines/headline.ts';
import { annotationsOf, withAnnotations } from '../../repository/manifest/annotations.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { RemoteRepository } from '../../repository/remote-repository.ts';
import { manifestKey } from '../../repository/repository.ts';
import type { SnapshotRow, TargetSnapshots } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import type { SnapshotFilter, SnapshotSelector } from '../../text/snapshot-selector.ts';
import { listImages } from '../servers/images.ts';
import { findTarget } from '../targets/find-target.ts';
import { createFilter, noMatch } from './filter.ts';
import { localRepository } from './local-repository.ts';
import { familyOf, type ListRequest, type LocatedSnapshot, listEverywhere } from './located-snapshots.ts';
import { assertSignature, isSanitized, shownSignature, trustedKeysOf } from './signatures.ts';
import { proofsOf } from './verify/proofs.ts';

export interface SnapshotRequest {
  target: string;
  /** Default 0. Screens use the id, which does not shift. */
  snapshot?: SnapshotSelector;
  /** Takes the original where a sanitized one would be taken. */
  original?: boolean;
}

export interface FoundSnapshot {
  manifest: Manifest;
  row: SnapshotRow;
  /** It is on this machine, complete. */
  local: boolean;
  remote: RemoteRepository | null;
}

/** A target's snapshots on this machine and on its remote repository, newest first; a sanitized one shares its original's index. */
export async function listSnapshots(
  context: Context,
  target: string,
  {
    original = false,
    timeoutMs,
    select,
  }: Partial<Pick<ListRequest, 'original' | 'timeoutMs'>> & { select?: SnapshotSelector | undefined } = {},
): Promise<TargetSnapshots> {
  const placed = await listEverywhere(context, { target, original, timeoutMs });
  const families = familiesOf(placed);
  const matches = select === undefined ? () => true : await createMatcher(context, families, { target, select });
  const proofs = proofsOf(context, target);
  const queries = await localRepository(context).listQueries();
  const imaged = new Set((await listImages(context)).map(({ manifest }) => manifest.snapshot));
  const rows = families.flatMap((family, index) =>
    family.filter(matches).map((snapshot) => {
      const row = placedRow(snapshot, { index, target, trustedKeys: trustedKeysOf(context) });
      const restored_at = proofs.get(row.id);
      const query_file = snapshot.local && row.sanitized ? queries.get(row.id) : undefined;
      return {
        ...row,
        ...(imaged.has(row.id) && { image: true as const }),
        ...(restored_at !== undefined && { restored_at }),
        ...(query_file !== undefined && { query_file }),
      };
    }),
  );
  return { target, snapshots: rows };
}

/** Throws where no snapshot is selected. */
async function createMatcher(
  context: Context,
  families: LocatedSnapshot[][],
  { target, select }: { target: string; select: SnapshotSelector },
): Promise<(snapshot: LocatedSnapshot) => boolean> {
  const placed = families.flat();
  const read = (snapshot: LocatedSnapshot) => readManifest(context, snapshot);
  if (typeof select === 'object') {
    const matches = await createFilter(placed, select, read);
    if (!placed.some(matches)) throw noMatch(target, select, placed);
    return matches;
  }
  const isNamed = typeof select === 'string' ? namedBy(placed, { target, prefix: select }) : () => false;
  const family = typeof select === 'number' ? families[select] : placed.filter(isNamed);
  if (!family?.length) throw missing(context, { target, snapshot: select }, families.length);
  return (snapshot) => family.includes(snapshot);
}

/** The snapshots with these ids; what has gone meanwhile is left out. */
export async function findSnapshots(context: Context, { target, ids }: { target: string; ids: string[] }) {
  const families = familiesOf(await listEverywhere(context, { target, original: true }));
  const placed = families.flatMap((family, index) => family.map((snapshot) => ({ index, snapshot })));
  const found: FoundSnapshot[] = [];
  for (const { index, snapshot } of placed) {
    if (!ids.includes(snapshot.headline.id)) continue;
    const manifest = await readManifest(context, snapshot);
    const { local, remote } = snapshot;
    if (manifest)
      found.push({
        manifest,
        row: placedRow(snapshot, { index, target, trustedKeys: trustedKeysOf(context) }),
        local,
        remote,
      });
  }
  return found;
}

/** Finds a snapshot to use; an error of wrong usage when there is none. Throws for an invalid signature. */
export async function findSnapshot(context: Context, request: SnapshotRequest): Promise<FoundSnapshot> {
  const found = await findAnySnapshot(context, request);
  assertSignature(found.manifest);
  return found;
}

/** Finds a snapshot, also one with an invalid signature, to verify or remove it. */
export async function findAnySnapshot(context: Context, request: SnapshotRequest): Promise<FoundSnapshot> {
  const { target, snapshot = 0, original = false } = request;
  if (typeof snapshot === 'object') return findMatching(context, request, snapshot);
  const needed = typeof snapshot === 'number' && { families: snapshot + 1 };
  const families = familiesOf(await listEverywhere(context, { target, original, ...needed }));
  const isNamed = typeof snapshot === 'string' ? namedBy(families.flat(), { target, prefix: snapshot }) : () => false;
  const index = typeof snapshot === 'number' ? snapshot : families.findIndex((family) => family.some(isNamed));
  const family = families[index];
  if (!family) throw missing(context, request, families.length);
  const named = typeof snapshot === 'number' ? family[0] : family.find(isNamed);
  const found = original ? originalOf(family) : named;
  if (!found) throw originalMissing(request);
  const manifest = await readManifest(context, found);
  if (!manifest) throw missing(context, request, families.length);
  return foundSnapshot(context, { found, manifest, index, target });
}

async function findMatching(
  context: Context,
  { target, original = false }: SnapshotRequest,
  filter: SnapshotFilter,
): Promise<FoundSnapshot> {
  const placed = await listEverywhere(context, { target, original });
  const chosen = familiesOf(placed).map((family) => (original ? originalOf(family) : family[0]));
  const candidates = chosen.filter((snapshot) => snapshot !== undefined);
  const matches = await createFilter(candidates, filter, (snapshot) => readManifest(context, snapshot));
  const found = candidates.find(matches);
  const manifest = found && (await readManifest(context, found));
  if (!found || !manifest) throw noMatch(target, filter, candidates);
  return foundSnapshot(context, { found, manifest, index: chosen.indexOf(found), target });
}

function originalOf(family: LocatedSnapshot[]): LocatedSnapshot | undefined {
  return family.find(({ headline }) => !headline.sanitized);
}

/** The row comes from the manifest. Throws `list_differs` where the list, by which the snapshot was chosen, has claimed otherwise. */
function foundSnapshot(
  { configuration }: Context,
  { found, manifest, index, target }: { found: LocatedSnapshot; manifest: Manifest; index: number; target: string },
): FoundSnapshot {
  const trustedKeys = trustedKeysOf({ configuration });
  const headline = headlineOf(manifest);
  const listed = found.headline;
  if (listed.sanitized !== headline.sanitized || listed.sanitized_of !== headline.sanitized_of) {
    throw listDiffers(manifest, listed.sanitized);
  }
  const annotated = withAnnotations(headline, annotationsOf(listed));
  const confirmed = { ...found, headline: annotated, sanitized: isSanitized(headline, trustedKeys) };
  return {
    manifest,
    row: placedRow(confirmed, { index, target, trustedKeys }),
    local: found.local,
    remote: found.remote,
  };
}

function listDiffers({ id, target, sanitized }: Manifest, listed: boolean): UserError {
  const kind = (is: boolean): string => (is ? 'a sanitized snapshot' : 'an original');
  const difference = sanitized === listed ? 'of another original' : `${kind(sanitized)}, not ${kind(listed)}`;
  return new UserError('list_differs', `Snapshot ${id} of ${target} is ${difference}, by its manifest`, {
    hint: `It was changed, or the list is forged. List the snapshots again: ${shell`tool target ${target}`}`,
  });
}

/** The snapshot of a plan. One that is on this machine is read here, and not listed in a bucket again. */
export async function findPlanned(
  context: Context,
  { target, snapshot }: { target: string; snapshot: SnapshotRow },
): Promise<FoundSnapshot> {
  const key = manifestKey({ ...snapshot, target: snapshot.origin ?? target });
  const manifest = snapshot.where.includes('local') ? await localRepository(context).read(key) : null;
  const found = manifest
    ? { manifest, row: snapshot, local: true, remote: null }
    : (await findSnapshots(context, { target, ids: [snapshot.id] }))[0];
  if (!found) throw missing(context, { target, snapshot: snapshot.id }, 0);
  assertSignature(found.manifest);
  const sanitized = isSanitized(headlineOf(found.manifest), trustedKeysOf(context));
  if (sanitized !== snapshot.sanitized) throw listDiffers(found.manifest, snapshot.sanitized);
  return found;
}

/** The one snapshot whose id begins so, or is that; an error of wrong usage when it could be another as well. */
function namedBy(
  placed: LocatedSnapshot[],
  { target, prefix }: { target: string; prefix: string },
): (snapshot: LocatedSnapshot) => boolean {
  const exact = placed.filter(({ headline }) => headline.id === prefix);
  const named =
    exact.length > 0 || prefix === '' ? exact : placed.filter(({ headline }) => headline.id.startsWith(prefix));
  const keys = new Set(named.map(({ headline }) => manifestKey(headline)));
  if (keys.size > 1) throw ambiguous({ target, prefix, named });
  return (snapshot) => named.includes(snapshot);
}

function ambiguous({ target, prefix, named }: { target: string; prefix: string; named: LocatedSnapshot[] }): UserError {
  return new UserError(
    'name_ambiguous',
    `Target "${target}" has more than one snapshot with an id that begins with "${prefix}"`,
    {
      details: named.map(({ headline }) => `${headline.id}, created ${headline.created_at}`),
      hint: `Write more of the id, or the index: ${shell`tool target ${target}`}`,
    },
  );
}

/**
 * Snapshots with what was made of them, newest data first, and in each the sanitized ones first, the latest before all:
 * what is taken unless the original is asked for.
 */
function familiesOf(placed: LocatedSnapshot[]): LocatedSnapshot[][] {
  const families = Map.groupBy(placed, familyOf);
  // One that claims to be sanitized, and does not count as such, is refused when it is chosen: it hides no other.
  const latest = ({ headline, sanitized }: LocatedSnapshot): string =>
    `${Number(sanitized)} ${headline.sanitized_at ?? ''}`;
  return [...families.values()].map((family) => family.sort((a, b) => (latest(a) < latest(b) ? 1 : -1)));
}

function originalMissing({ target, snapshot = 0 }: SnapshotRequest): UserError {
  return new UserError('snapshot_missing', `The original of snapshot ${snapshot} of "${target}" is not here`, {
    hint: 'Only the sanitized snapshot is. Omit --original to use it.',
  });
}

function readManifest(
  context: Context,
  { headline, local, remote }: LocatedSnapshot,
): Promise<Manifest | null | undefined> {
  const source = local ? localRepository(context) : remote;
  return Promise.resolve(source?.read(manifestKey(headline)));
}

function missing({ configuration }: Context, { target, snapshot = 0 }: SnapshotRequest, count: number): UserError {
  const { share } = findTarget(configuration, target);
  // The word of a line without a target may have been meant as one.
  const isOnly = Object.keys(configuration.settings.targets).length === 1;
  const noTarget = typeof snapshot === 'string' && isOnly ? `, and there is no target "${snapshot}"` : '';
  if (count === 0) {
    return new UserError('snapshot_missing', `Target "${target}" has no snapshots yet${noTarget}`, {
      hint: share
        ? 'Only sanitized ones are shared, unless --original is given.'
        : `Build one: ${shell`tool build ${target}`}`,
    });
  }
  return new UserError('snapshot_missing', `Target "${target}" has no snapshot ${snapshot}${noTarget}`, {
    hint: `${count === 1 ? 'The only one is 0' : `There are ${count}, from 0 (the newest) to ${count - 1}`}: ${shell`tool target ${target}`}`,
  });
}

interface RowOptions {
  index: number;
  /** The target that was asked for. */
  target: string;
  trustedKeys: string[] | undefined;
}

function placedRow(
  { headline, sanitized, local, remote }: LocatedSnapshot,
  { index, target, trustedKeys }: RowOptions,
): SnapshotRow {
  const { target: origin, signature, ...facts } = headline;
  return {
    index,
    ...facts,
    sanitized,
    where: [...(local ? (['local'] as const) : []), ...(remote ? (['remote'] as const) : [])],
    ...(origin !== target && { origin }),
    signature: shownSignature(signature, trustedKeys),
  };
}

/** The row of a snapshot that has just been stored on this machine. */
export function snapshotRow({ configuration }: Context, manifest: Manifest, index: number): SnapshotRow {
  const trustedKeys = trustedKeysOf({ configuration });
  const headline = headlineOf(manifest);
  const placed = { headline, sanitized: isSanitized(headline, trustedKeys), local: true, remote: null };
  return placedRow(placed, { index, target: manifest.target, trustedKeys });
}
