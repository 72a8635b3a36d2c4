import type { Context } from '../context.ts';
import { EXIT, UserError } from '../errors.ts';
import type { SnapshotRow, TargetSnapshots } from '../results.ts';
import type { Manifest } from '../snapshots/manifest.ts';
import { createRepository, filesOf, type Repository } from '../snapshots/repository.ts';
import { findTarget } from './find-target.ts';

/** Which snapshot of a target: its index (0 is the newest) or its id; screens use the id, which does not shift. */
export type SnapshotSelector = number | string;

export interface SnapshotRequest {
  target: string;
  /** Default 0. */
  snapshot?: SnapshotSelector;
  /** Takes the original where a sanitized one would be taken. */
  original?: boolean;
}

/** A target's snapshots, newest first; a sanitized one stands before its original and shares its index. */
export async function listSnapshots(context: Context, target: string): Promise<TargetSnapshots> {
  findTarget(context.configuration, target);
  const families = familiesOf(await repositoryOf(context).list(target));
  return { target, snapshots: families.flatMap((family, index) => family.map((each) => snapshotRow(each, index))) };
}

/** Sets or, with an empty text, removes the note of a snapshot. */
export async function annotate(context: Context, request: SnapshotRequest & { note: string }): Promise<SnapshotRow> {
  const { manifest, index } = await findSnapshot(context, request);
  const annotated = { ...manifest, note: request.note.trim() === '' ? null : request.note.trim() };
  await repositoryOf(context).write(annotated);
  return snapshotRow(annotated, index);
}

/** The snapshot that was asked for; an error of wrong usage when there is none. */
export async function findSnapshot(
  context: Context,
  { target, snapshot = 0, original = false }: SnapshotRequest,
): Promise<{ manifest: Manifest; index: number }> {
  findTarget(context.configuration, target);
  const families = familiesOf(await repositoryOf(context).list(target));
  const index =
    typeof snapshot === 'number'
      ? snapshot
      : families.findIndex((family) => family.some(({ id }) => id.startsWith(snapshot)));
  const family = families[index];
  if (!family) throw missing(target, { snapshot, count: families.length });
  const named = typeof snapshot === 'number' ? family[0] : family.find(({ id }) => id.startsWith(snapshot));
  const manifest = original ? family.find(({ sanitized }) => !sanitized) : named;
  if (manifest) return { manifest, index };
  throw new UserError(`The original of snapshot ${snapshot} of "${target}" is not on this machine`, {
    code: 'snapshot_missing',
    exit: EXIT.usage,
    hint: 'Only its sanitized copy is here: leave --original out to take that.',
  });
}

/**
 * Snapshots with what was made of them, newest data first, and in each the sanitized ones first, the latest before all:
 * what is taken unless the original is asked for.
 */
function familiesOf(manifests: Manifest[]): Manifest[][] {
  const families = Map.groupBy(manifests, ({ sanitized_of, id }) => sanitized_of ?? id);
  return [...families.values()].map((family) =>
    family.sort((a, b) => ((a.sanitized_at ?? '') < (b.sanitized_at ?? '') ? 1 : -1)),
  );
}

function missing(target: string, { snapshot, count }: { snapshot: SnapshotSelector; count: number }): UserError {
  if (count === 0) {
    return new UserError(`Target "${target}" has no snapshots yet`, {
      code: 'snapshot_missing',
      exit: EXIT.usage,
      hint: `Take one: tool build ${target}`,
    });
  }
  return new UserError(`Target "${target}" has no snapshot ${snapshot}`, {
    code: 'snapshot_missing',
    exit: EXIT.usage,
    hint: `There are ${count}, from 0 (the newest) to ${count - 1}: tool target ${target}`,
  });
}

export function snapshotRow(manifest: Manifest, index: number): SnapshotRow {
  return {
    index,
    id: manifest.id,
    created_at: manifest.created_at,
    sanitized: manifest.sanitized,
    ...(manifest.sanitized_of !== undefined && { sanitized_of: manifest.sanitized_of }),
    engine: manifest.engine,
    server_version: manifest.server_version,
    schemas: manifest.schemas,
    tables: manifest.tables.length,
    rows: manifest.tables.reduce((sum, table) => sum + table.rows, 0),
    size_bytes: filesOf(manifest).reduce((sum, file) => sum + file.bytes, 0),
    stored_bytes: manifest.added_bytes,
    where: ['local'],
    note: manifest.note,
  };
}

export function repositoryOf({ configuration, report }: Context): Repository {
  return createRepository({ directory: configuration.settings.working_directory, report });
}
