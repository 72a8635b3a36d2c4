import type { Context } from '../context.ts';
import { EXIT, UserError } from '../errors.ts';
import type { SnapshotRow, TargetSnapshots } from '../results.ts';
import type { Manifest } from '../snapshots/manifest.ts';
import { filesOf } from '../snapshots/catalogue.ts';
import { createRepository, type Repository } from '../snapshots/repository.ts';
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

/** A target's snapshots, newest first. */
export async function listSnapshots(context: Context, target: string): Promise<TargetSnapshots> {
  findTarget(context.configuration, target);
  const manifests = await repositoryOf(context).list(target);
  return { target, snapshots: manifests.map(snapshotRow) };
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
  { target, snapshot = 0 }: SnapshotRequest,
): Promise<{ manifest: Manifest; index: number }> {
  findTarget(context.configuration, target);
  const manifests = await repositoryOf(context).list(target);
  const index =
    typeof snapshot === 'number' ? snapshot : manifests.findIndex((manifest) => manifest.id.startsWith(snapshot));
  const manifest = manifests[index];
  if (manifest) return { manifest, index };
  if (manifests.length === 0) {
    throw new UserError(`Target "${target}" has no snapshots yet`, {
      code: 'snapshot_missing',
      exit: EXIT.usage,
      hint: `Take one: tool build ${target}`,
    });
  }
  throw new UserError(`Target "${target}" has no snapshot ${snapshot}`, {
    code: 'snapshot_missing',
    exit: EXIT.usage,
    hint: `There are ${manifests.length}, from 0 (the newest) to ${manifests.length - 1}: tool target ${target}`,
  });
}

export function snapshotRow(manifest: Manifest, index: number): SnapshotRow {
  return {
    index,
    id: manifest.id,
    created_at: manifest.created_at,
    sanitized: manifest.sanitized,
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
